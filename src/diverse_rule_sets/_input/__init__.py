"""Input validation: tables, labels, arguments."""
