"""Scores of held-out records: the parameter ``scoring``, as in scikit-learn's ``cross_validate``."""

from __future__ import annotations

import inspect
import math
import numbers
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.checks import did_you_mean
from diverse_rule_sets.path._points import BALANCED_ACCURACY

Scorer = Callable[..., Any]
_EXPECTED = "the name of a scorer of scikit-learn, a function of an estimator, X and y, or a list or dict of these"


def as_scorers(scoring: Any) -> dict[str, Scorer]:
    """Return the scorers by name; empty if ``scoring`` is None.

    Raises ValueError or TypeError that names an invalid value.
    """
    if scoring is None:
        return {}
    if isinstance(scoring, str) or callable(scoring):
        return {_name_of(scoring): _as_scorer("scoring", scoring)}
    if isinstance(scoring, Mapping):
        for name in scoring:
            if not isinstance(name, str):
                raise TypeError(f"the keys of scoring must be names of scores, got {name!r} ({type(name).__name__})")
        found = {name: _as_scorer(f"scoring[{name!r}]", one) for name, one in scoring.items()}
    elif isinstance(scoring, Iterable):
        found = {}
        for one in scoring:
            scorer, name = _as_scorer("scoring", one), _name_of(one)
            if name in found:
                raise ValueError(f"scoring must name each scorer once, got {name!r} twice; use a dict with other names")
            found[name] = scorer
    else:
        raise TypeError(f"scoring must be {_EXPECTED}, got {scoring!r} ({type(scoring).__name__})")
    if not found:
        raise ValueError(f"scoring must be {_EXPECTED}, got {scoring!r}")
    return found


def _name_of(scorer: Any) -> str:
    return scorer if isinstance(scorer, str) else str(getattr(scorer, "__name__", "score"))


def _as_scorer(argument: str, value: Any) -> Scorer:
    """Return a scorer as a function."""
    if isinstance(value, str):
        from sklearn.metrics import get_scorer, get_scorer_names  # slow to import, and needed only here

        known = get_scorer_names()
        if value not in known:
            raise ValueError(
                f"{argument} must be {_EXPECTED}; sklearn.metrics.get_scorer_names() lists the names, got {value!r}"
                f"{did_you_mean(value, known)}"
            )
        return get_scorer(value)  # type: ignore[no-any-return]
    if not callable(value):
        raise TypeError(f"{argument} must be {_EXPECTED}, got {value!r} ({type(value).__name__})")
    try:
        inspect.signature(value).bind(None, None, None)
    except TypeError:
        raise TypeError(
            f"{argument} must be {_EXPECTED}, got {value!r}, which does not take these three arguments; "
            "sklearn.metrics.make_scorer makes a scorer of a function of labels"
        ) from None
    except ValueError:  # some functions of extension modules have no signature
        pass
    return value  # type: ignore[no-any-return]


def scores_of(
    scorers: Mapping[str, Scorer],
    estimator: Any,
    X: Any,
    labels: NDArray[Any],
    balanced_accuracy: float,
    weights: NDArray[Any] | None = None,
) -> dict[str, float]:
    """Return the scores of held-out records; without scorers, balanced accuracy, which is known.

    A score is NaN if it cannot be computed because the classes of the held-out records differ from those of training.
    Weights are passed to the scorers that take them.
    """
    if not scorers:
        return {BALANCED_ACCURACY: balanced_accuracy}
    same_classes = np.array_equal(np.unique(labels), estimator.classes_)
    return {
        name: _score(name, scorer, estimator, X, labels, same_classes, _weights_for(scorer, weights))
        for name, scorer in scorers.items()
    }


def _weights_for(scorer: Any, weights: NDArray[Any] | None) -> dict[str, Any]:
    """Return the argument ``sample_weight`` of a scorer; empty without weights, or if it takes none."""
    try:
        known = inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    except ValueError:  # some functions of extension modules have no signature
        return {}
    return {"sample_weight": weights} if weights is not None and "sample_weight" in known else {}


def _score(
    name: str,
    scorer: Scorer,
    estimator: Any,
    X: Any,
    labels: NDArray[Any],
    same_classes: bool,
    weights: Mapping[str, Any],
) -> float:
    """Return one score."""
    try:
        with warnings.catch_warnings():
            if not same_classes:
                warnings.simplefilter("ignore")
            value = scorer(estimator, X, labels, **weights)
    except ValueError as error:
        if not same_classes:
            return math.nan
        raise ValueError(f"scoring: {name!r} cannot be computed: {error}") from error
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise TypeError(f"scoring: {name!r} must return a number, got {value!r} ({type(value).__name__})")
    return float(value)
