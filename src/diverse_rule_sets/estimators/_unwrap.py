"""Classifiers of this package inside the pipelines and searches of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from diverse_rule_sets.estimators._base import RuleSetEstimator
from diverse_rule_sets.model._rules import RuleSet


@dataclass(frozen=True, eq=False)
class Unwrapped:
    """The model at the end of pipelines and searches, see :func:`unwrap`.

    Parameters
    ----------
    model : the last step: a classifier of this package, or any other object
    transformers : the earlier steps of each pipeline, as a pipeline each, in the order in which they are applied
    containers : the names of the types of the pipelines and searches around the model, from the outermost
    """

    model: Any
    transformers: tuple[Any, ...] = ()
    containers: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the type of the model and of everything around it, for error messages."""
        name = repr(self.model) if isinstance(self.model, str) else type(self.model).__name__
        return "".join([name, *(f" in a {container}" for container in reversed(self.containers))])

    def transform(self, X: Any) -> Any:
        """Return the records as the fitted earlier steps pass them to the model."""
        for transformer in self.transformers:
            X = transformer.transform(X)
        return X

    def names_out(self) -> list[str] | None:
        """Return the names of the columns after the fitted earlier steps; None if the last of them gives no names."""
        names = None
        for step in (step for transformer in self.transformers for _, step in transformer.steps):
            if step is None or isinstance(step, str):  # "passthrough"
                continue
            try:
                names = step.get_feature_names_out(None if hasattr(step, "feature_names_in_") else names)
            except (AttributeError, TypeError, ValueError):  # no such method, or it does not know its columns
                names = None
        return None if names is None else [str(name) for name in names]

    def refit(self, X: Any, y: Any, other: Any) -> tuple[Any, Any]:
        """Fit copies of the earlier steps on the records X; return X and other records, both transformed by them."""
        for transformer in self.transformers:
            copy = clone(transformer)
            X = copy.fit_transform(X, y)
            other = copy.transform(other)
        return X, other


def unwrap(model: Any) -> Unwrapped:
    """Return the last step of a pipeline, the best estimator of a search, or the model itself if it is neither.

    Pipelines and searches may contain one another. A search must be fitted.
    """
    transformers: list[Any] = []
    containers: list[str] = []
    while not isinstance(model, RuleSet | RuleSetEstimator):
        from sklearn.pipeline import Pipeline  # slow to import, and needed only here

        name = type(model).__name__
        if isinstance(model, Pipeline) and model.steps:
            if len(model.steps) > 1:
                transformers.append(model[:-1])
            model = model.steps[-1][1]
        elif hasattr(model, "best_estimator_") or _is_search(model):
            model = _best_estimator(model)
        else:
            break
        containers.append(name)
    return Unwrapped(model, tuple(transformers), tuple(containers))


def _is_search(model: Any) -> bool:
    from sklearn.model_selection._search import BaseSearchCV

    return isinstance(model, BaseSearchCV)


def _best_estimator(search: Any) -> Any:
    """Return the best estimator of a fitted search."""
    if hasattr(search, "best_estimator_"):
        return search.best_estimator_
    name = type(search).__name__
    if not search.refit:
        raise ValueError(f"this {name} has no best_estimator_, expected refit=True, got refit={search.refit!r}")
    raise NotFittedError(f"this {name} is not fitted yet; call fit(X, y) first")
