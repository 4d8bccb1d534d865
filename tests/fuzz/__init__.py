"""Hostile tables, model files and rule texts, made at random from one integer each: ``python -m tests.fuzz``."""
