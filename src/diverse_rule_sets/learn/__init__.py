"""The search for rules, based on counts of records."""
