"""Boolean arrays packed into 64-bit words, and the compiled loops that count them."""
