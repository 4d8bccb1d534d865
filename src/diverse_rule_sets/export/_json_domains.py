"""The values of a column in training as JSON: the keys ``values`` and ``whole`` of an entry of ``columns``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from diverse_rule_sets._input.values import canonical, identity, is_missing
from diverse_rule_sets.model._domains import MAX_VALUES, Domain

# The keys of an entry of ``columns``, both optional, from version 2 of the format on.
DOMAIN_KEYS = ("values", "whole")


def domain_to_json(domain: Domain, json_value: Callable[[Any, str], Any]) -> dict[str, Any]:
    """Return the keys for a domain; without ``values`` if JSON cannot represent one of them.

    Parameters
    ----------
    domain : the values of a column
    json_value : function of a value and of its description that returns the value as JSON, or raises ValueError
    """
    content: dict[str, Any] = {"whole": True} if domain.whole else {}
    if domain.values is not None:
        try:
            content["values"] = [json_value(value, "a value") for value in domain.values]
        except ValueError:
            return content
    return content


def domain_from_json(column: Mapping[str, Any], place: str, read: Callable[[Any, str], Any]) -> Domain | None:
    """Return the domain of an entry of ``columns``; None if nothing is known.

    Parameters
    ----------
    column : the entry
    place : its place in the file
    read : function of a JSON value and of its place that returns the value
    """
    if not any(key in column for key in DOMAIN_KEYS):
        return None
    whole, listed = column.get("whole", False), column.get("values")
    if not isinstance(whole, bool):
        raise ValueError(f"{place}.whole must be true or false, got {whole!r:.60}")
    if "values" not in column:
        return Domain(whole=whole)
    if not isinstance(listed, list) or len(listed) > MAX_VALUES:
        raise ValueError(f"{place}.values must be a list of at most {MAX_VALUES} values, got {listed!r:.60}")
    values = [_value(read(value, f"{place}.values[{k}]"), f"{place}.values[{k}]") for k, value in enumerate(listed)]
    if len(set(map(identity, values))) < len(values):
        raise ValueError(f"{place}.values must be different values, got {listed!r:.60}")
    return Domain(tuple(values), whole)


def _value(value: Any, place: str) -> Any:
    """Return a value of a column in its one form."""
    try:
        if not is_missing(value):
            return canonical(value)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{place} must be text, a number, a boolean, a date or bytes, got {value!r:.60}")
