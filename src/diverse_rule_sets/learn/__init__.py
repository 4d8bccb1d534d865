"""From counts to rules."""
