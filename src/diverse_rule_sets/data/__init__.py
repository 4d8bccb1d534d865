"""From a table to items that can be counted."""
