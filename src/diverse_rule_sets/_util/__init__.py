"""Helpers without a word of the domain: data frames, files, progress, plots."""
