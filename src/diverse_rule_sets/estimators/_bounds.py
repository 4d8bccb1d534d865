"""Upper bounds of parameters that several classifiers share: larger values would only cost memory or time."""

from __future__ import annotations

# Rules of a rule set, and conditions of a rule.
MAX_RULES = 10_000
MAX_CONDITIONS = 10_000
MAX_STATEMENTS = 2 * MAX_RULES + 1  # rules, as many fallback rules, and the default label


def check_statements(max_statements: int | None, n_given: int) -> None:
    """Raise ValueError if given rules and the default label are more than ``max_statements``."""
    if max_statements is not None and max_statements < n_given + 1:
        raise ValueError(
            f"max_statements must be at least {n_given + 1}, the number of given_rules and the default label, "
            f"got {max_statements!r}"
        )
