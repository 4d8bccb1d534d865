"""A rule set for other programs: JSON (both ways), SQL, PMML, Python. Each is a method of :class:`RuleSet` too."""
