"""Upper bounds of parameters that several classifiers share: larger values would only cost memory or time."""

from __future__ import annotations

# Rules of a rule set, and conditions of a rule.
MAX_RULES = 10_000
MAX_CONDITIONS = 10_000
MAX_STATEMENTS = 2 * MAX_RULES + 1  # rules, as many fallback rules, and the default label
