"""What a fitted model is, in the units of the table: conditions, rules, and how they decide."""
