"""Names of columns that a database may not tell apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

# PostgreSQL ignores the rest of a longer name.
_SHORTEST = 63


def similar_names(names: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Return the names that are not the only one of their kind as text: in lower case, or in their first bytes.

    Examples
    --------
    >>> similar_names(["a", "b", "A", 1, "1"])
    ('a', 'A', 1, '1')
    """
    texts = [str(name) for name in names]
    folded = [text.casefold() for text in texts]
    starts = [text.encode("utf8", "replace")[:_SHORTEST] for text in texts]
    n_folded, n_starts = Counter(folded), Counter(starts)
    kinds = zip(names, folded, starts, strict=True)
    return tuple(name for name, text, start in kinds if max(n_folded[text], n_starts[start]) > 1)
