"""Export of rule sets as JSON, SQL, PMML and Python, and import from JSON; all are methods of :class:`RuleSet`."""
