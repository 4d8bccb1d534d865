"""The state of pickled objects, with the version of the package that wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEY = "_diverse_rule_sets_version"
# Version 0.1 did not write its version.
_WITHOUT_KEY = "0.1"


def pickled_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of an object to pickle, with the version of this package."""
    from diverse_rule_sets import __version__

    return {**state, _KEY: __version__}


def restored_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a pickled object without its version; raises ValueError if another version wrote it."""
    from diverse_rule_sets import __version__

    version = state.get(_KEY, _WITHOUT_KEY)
    if version != __version__:
        raise ValueError(
            f"this model was pickled by version {version} of diverse-rule-sets and cannot be read by version "
            f"{__version__}: fit it again; or read it with version {version}, save rule_set_.to_json() to a file, and "
            "read that file here with RuleSet.from_json"
        )
    return {name: value for name, value in state.items() if name != _KEY}
