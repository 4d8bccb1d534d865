"""``sample_rules``: the public function of the samplers."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diverse_rule_sets._bits import bitset
from diverse_rule_sets._input.checks import check_choice, check_number, generator
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.learn.samplers._enumeration import EnumerationSampler
from diverse_rule_sets.learn.samplers._parts import MEASURES
from diverse_rule_sets.learn.samplers._rejection import RejectionSampler

SAMPLERS: dict[str, type[RejectionSampler] | type[EnumerationSampler]] = {
    "rejection": RejectionSampler,
    "enumeration": EnumerationSampler,
}


def sample_rules(
    items: ArrayLike,
    y: ArrayLike,
    label: Any,
    *,
    n: int,
    covered: ArrayLike | None = None,
    measure: str = "pairs",
    method: str = "rejection",
    length_odds: float = 1.0,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> list[tuple[int, ...]]:
    """Draw rule bodies for a label at random; the distribution favours bodies that separate its uncovered records.

    A body r is drawn with probability proportional to ``length_odds ** len(r)`` times the chosen measure, where D+ are
    the uncovered records of the label, D- the uncovered records of other labels, and Du the covered records:

    - ``"pairs"``: ``|D+(r)| * (|D-| - |D-(r)| + |Du| - |Du(r)|)`` (Eq. 8 of the paper)
    - ``"triples"``: ``|D+(r)| * (|D-| - |D-(r)|) * (|Du| - |Du(r)|)`` (Eq. 7)

    If D- or Du is empty, its factor or term is left out.

    Parameters
    ----------
    items : boolean array (n_records, n_items), which items hold for which records
    y : array (n_records,), labels
    label : the label to draw bodies for
    n : how many bodies to draw
    covered : boolean array (n_records,), records already covered by rules; none by default
    measure : ``"pairs"`` or ``"triples"``
    method : ``"rejection"`` (time linear in the number of records) or ``"enumeration"`` (lists all tuples of distinct
        records; for small tables). Both have exactly the same distribution
    length_odds : 1 for the distribution of the paper; smaller values favour shorter bodies
    random_state : seed, generator, or None for numpy's global random state

    Returns
    -------
    list of sorted tuples of item numbers; none if no body has a positive probability. The rejection method may also
    return fewer than n if nearly all proposals are rejected and there are too many distinct records to enumerate.

    Examples
    --------
    >>> items = [[1, 0, 1], [1, 0, 0], [0, 1, 1]]
    >>> sample_rules(items, ["yes", "yes", "no"], "yes", n=4, random_state=0)
    [(0, 2), (0, 2), (0,), (0,)]
    """
    table, labels = np.asarray(items), np.asarray(y)
    if table.ndim != 2 or not np.isin(table, (0, 1)).all():
        raise ValueError(
            f"items must be a boolean array (n_records, n_items), got shape {table.shape}, dtype {table.dtype}"
        )
    if labels.shape != table.shape[:1]:
        raise ValueError(
            f"y must have one label per record: items has {table.shape[0]} records, y has shape {labels.shape}"
        )
    check_number("n", n, numbers.Integral, low=0)
    check_number("length_odds", length_odds, numbers.Real, low=0, high=1e6, open_low=True)
    check_choice("measure", measure, MEASURES)
    check_choice("method", method, SAMPLERS)
    flags = np.zeros(labels.size, np.bool_) if covered is None else np.asarray(covered)
    if flags.shape != labels.shape or not np.isin(flags, (0, 1)).all():
        raise ValueError(f"covered must be a boolean array of shape {labels.shape}, got {flags.shape}, {flags.dtype}")
    if n == 0 or table.size == 0:
        return []
    rows = bitset.pack(np.ascontiguousarray(table.T.astype(np.bool_)))
    backend = LocalBackend(rows, (labels == label).astype(np.int64), n_classes=2)
    sampler = SAMPLERS[method](backend, measure, float(length_odds))
    covered_records = backend.pick(backend.everything, np.flatnonzero(flags))
    return list(sampler.draw(1, int(n), covered_records, generator(random_state)).tuples())
