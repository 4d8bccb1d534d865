"""The fitted model in the units of the table: conditions, rules, and the decision between covering rules."""
