"""The values of a column in training as JSON: ``values``, ``whole`` and ``limits`` of an entry of ``columns``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from diverse_rule_sets._input.values import canonical, identity, is_missing
from diverse_rule_sets.model._domains import MAX_VALUES, Domain

# The keys of an entry of ``columns``, all optional, by version of the format.
_KEYS_2 = ("values", "whole")
_KEYS_4 = (*_KEYS_2, "limits")
DOMAIN_KEYS: dict[int, tuple[str, ...]] = {1: (), 2: _KEYS_2, 3: _KEYS_2, 4: _KEYS_4, 5: _KEYS_4}


def domain_to_json(domain: Domain, json_value: Callable[[Any, str], Any]) -> dict[str, Any]:
    """Return the keys for a domain; without ``values`` if JSON cannot represent one of them.

    Parameters
    ----------
    domain : the values of a column
    json_value : function of a value and of its description that returns the value as JSON, or raises ValueError
    """
    content: dict[str, Any] = {"whole": True} if domain.whole else {}
    if domain.limits is not None:
        content["limits"] = list(domain.limits)
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
    if not any(key in column for key in DOMAIN_KEYS[4]):
        return None
    whole, listed = column.get("whole", False), column.get("values")
    if not isinstance(whole, bool):
        raise ValueError(f"{place}.whole must be true or false, got {whole!r:.60}")
    limits = _limits(column["limits"], whole and "values" not in column, place) if "limits" in column else None
    if "values" not in column:
        return Domain(whole=whole, limits=limits)
    if not isinstance(listed, list) or len(listed) > MAX_VALUES:
        raise ValueError(f"{place}.values must be a list of at most {MAX_VALUES} values, got {listed!r:.60}")
    values = [_value(read(value, f"{place}.values[{k}]"), f"{place}.values[{k}]") for k, value in enumerate(listed)]
    if len(set(map(identity, values))) < len(values):
        raise ValueError(f"{place}.values must be different values, got {listed!r:.60}")
    return Domain(tuple(values), whole)


def _limits(limits: Any, whole: bool, place: str) -> tuple[int, int]:
    """Return the smallest and the largest number of a column of whole numbers."""
    if not whole:
        raise ValueError(f"{place}.limits is only for a column of whole numbers")
    are_numbers = isinstance(limits, list) and len(limits) == 2 and all(type(one) is int for one in limits)
    if not are_numbers or not -(2**53) <= limits[0] <= limits[1] <= 2**53:
        raise ValueError(f"{place}.limits must be two whole numbers, the smaller one first, got {limits!r:.60}")
    return limits[0], limits[1]


def _value(value: Any, place: str) -> Any:
    """Return a value of a column in its one form."""
    try:
        if not is_missing(value):
            return canonical(value)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{place} must be text, a number, a boolean, a date or bytes, got {value!r:.60}")
