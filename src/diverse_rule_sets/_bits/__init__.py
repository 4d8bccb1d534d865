"""Packed 64-bit rows and the compiled loops on them: integers in, integers out."""
