"""Tables that are read in batches: files, folders, and lazy tables of other libraries."""
