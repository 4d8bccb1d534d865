"""Training records as items, and the counts of items."""
