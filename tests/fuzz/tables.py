"""Random tables with labels and an estimator: a case follows from one integer, and is built from its description."""

import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from .arrays import ARRAYS, LISTS
from .arrow_columns import ARROW
from .kinds import EITHER, FITS, REFUSED, Kind, evaluate
from .labels import LABELS, PLAIN
from .names import has_repetition, is_same, names
from .pandas_columns import PANDAS
from .parameters import estimator_of
from .polars_columns import POLARS
from .values import Draw, is_missing, source

KINDS = {"pandas": PANDAS, "polars": POLARS, "arrow": ARROW, "numpy": ARRAYS, "lists": LISTS}
FITTING = {library: [kind for kind in kinds if kind.fate == FITS] for library, kinds in KINDS.items()}
LIBRARIES = ("pandas",) * 9 + ("polars",) * 4 + ("arrow",) * 4 + ("numpy",) * 3 + ("lists",)
FITTING_LABELS = [kind for kind in LABELS if kind.fate == FITS]
# Expressions of the finished table X.
LAYOUTS = {
    "pandas": ("X.set_axis(['i'] * len(X))", "X.set_axis(range(len(X), 0, -1))", "pd.concat([X.iloc[:1], X.iloc[1:]])"),
    "polars": ("pl.concat([X[:1], X[1:]], rechunk=False)", "pl.concat([X, X], rechunk=False)[:len(X)]"),
    "arrow": (
        "pa.concat_tables([X.slice(0, 1), X.slice(1, 0), X.slice(1)])",
        "pa.concat_tables([X.slice(0, 0), X])",
        "pa.concat_tables([X, X]).slice(0, len(X))",
    ),
    "numpy": (
        "np.asfortranarray(X)",
        "np.broadcast_to(X, X.shape)",
        "np.repeat(X, 2, axis=0)[::2]",
        "np.hstack([X, X])[:, :X.shape[1]]",
        "np.broadcast_to(X[:1], X.shape)",
        "X[::-1][::-1]",
    ),
    "lists": ("tuple(X)", "[tuple(row) for row in X]", "[np.array(row, object) for row in X]"),
}


@dataclass(frozen=True)
class Column:
    """A column of a case: the values of the training records, and of new records."""

    name: Any
    kind: Kind
    values: tuple[Any, ...]
    new: tuple[Any, ...] = ()

    @property
    def fate(self):
        """What must happen to a table with this column; values that are all missing may be of any kind."""
        if self.kind.fate == REFUSED and all(is_missing(v) for v in self.values):
            return EITHER
        return self.kind.fate


@dataclass(frozen=True)
class TableCase:
    """A table, its labels, an estimator with parameters (each as source), and the checks to do."""

    library: str
    columns: tuple[Column, ...]
    labels: tuple[Any, ...]
    label_kind: Kind = PLAIN
    layout: str = "X"
    estimator: str = "DiverseRuleSetClassifier"
    parameters: dict[str, str] = field(default_factory=dict)
    checks: tuple[str, ...] = ()
    seed: int = 0
    thorough: bool = False  # check every record, not some
    other: Column | None = None  # a column with the name of another one but of another kind

    @property
    def n_records(self):
        return len(self.labels)

    @property
    def names(self):
        return [column.name for column in self.columns]

    def with_other_type(self):
        """Return a case with the same columns, but one of another kind; None if there is none."""
        if self.other is None:
            return None
        n = len(self.other.values)
        columns = tuple(
            replace(c, values=(c.values * n)[:n]) if not is_same(c.name, self.other.name) else self.other
            for c in self.columns
        )
        return replace(self, columns=columns, labels=(self.labels * n)[:n], layout="X")

    @property
    def fate(self):
        """What must happen to the case: the strictest of its parts."""
        fates = {column.fate for column in self.columns} | {self.label_kind.fate}
        if "forbidden" in self.parameters:  # the column is not read
            return EITHER
        if REFUSED in fates or (self.library != "numpy" and has_repetition(self.names)):
            return REFUSED
        return EITHER if EITHER in fates else FITS


def make_case(seed, number, choose_checks):
    """Return the case with a number; ``choose_checks`` returns the checks to do, given a Draw."""
    draw = Draw(seed, 0, number)
    library = draw.pick(LIBRARIES)
    n, n_new, n_columns = _sizes(draw)
    kinds = KINDS[library] if draw.chance(0.3) else FITTING[library]
    shared = draw.pick(kinds) if library == "numpy" else None
    chosen = [shared or draw.pick(kinds) for _ in range(n_columns)]
    drawn = [_values(draw, kind, n, n_new) for kind in chosen]
    columns = tuple(
        Column(name, kind, values, new)
        for name, kind, (values, new, _) in zip(names(draw, n_columns, library), chosen, drawn, strict=True)
    )
    label_kind = PLAIN if draw.chance(0.5) else draw.pick(LABELS if draw.chance(0.4) else FITTING_LABELS)
    labels = _labels(draw, label_kind, n, [codes for _, _, codes in drawn])
    layout = draw.pick(LAYOUTS[library]) if draw.chance(0.25) else "X"
    estimator, parameters = estimator_of(draw, columns, labels)
    checks = choose_checks(draw)
    case = TableCase(library, columns, labels, label_kind, layout, estimator, parameters, checks, draw.below(2**31))
    if "other type" in checks and library != "numpy":
        case = replace(case, other=_other_column(draw, library, draw.pick(columns)))
    return case


def _other_column(draw, library, column):
    """Return a column with the same name but of another kind."""
    kind = draw.pick(FITTING[library])
    values, _, _ = _values(draw, kind, draw.between(1, 6), 0)
    return Column(column.name, kind, values)


def _sizes(draw):
    kind = draw.below(1000)
    n = draw.between(1, 200) if kind < 100 else draw.between(1, 8) if kind < 200 else draw.between(8, 60)
    n_columns = draw.between(1, 12) if kind % 10 == 0 else draw.between(1, 4)
    if kind >= 998:
        n = 2000
    elif kind >= 996:
        n_columns = 200
    return n, draw.pick((0, 3, 8)), n_columns


def _values(draw, kind, n, n_new):
    """Return the values of training records, of new records, and the codes of the former."""
    k = draw.pick((1, 2, 2, 3, 4, 6, 10, n))
    pool = kind.pool(draw, max(k, 1)) or [None]
    codes = draw.codes(n, len(pool))
    values = [pool[c] for c in codes]
    others = pool + (kind.pool(draw, 4) if n_new else [])
    new = [others[c] for c in draw.codes(n_new, len(others))]
    if kind.missing:
        share = draw.pick((0, 0, 0, 0.1, 0.3, 0.9, 1.0 if draw.chance(0.2) else 0))
        if share:
            values = [draw.pick(kind.missing) if draw.chance(share) else v for v in values]
        if draw.chance(0.5):
            new = [draw.pick(kind.missing) if draw.chance(0.2) else v for v in new]
    return tuple(values), tuple(new), codes


def _labels(draw, kind, n, codes):
    """Return labels that depend on one or two columns, or on how many columns have large codes, with some noise."""
    style = draw.below(100)
    n_classes = 1 if style < 3 else 60 if style == 3 else draw.pick((2, 2, 2, 3, 3, 4, 6))
    pool = kind.pool(draw, n_classes) or ["a"]
    first, second = draw.pick(codes), draw.pick(codes)
    cut, noise = draw.between(1, 1 + max(first) // 2), draw.pick((0, 0, 0.05, 0.2, 1))
    picked = [(a // cut + (b if noise == 0.05 else 0)) % len(pool) for a, b in zip(first, second, strict=True)]
    if style >= 70:  # weak signs that add up
        sums = np.sum([np.array(one) > max(one) // 2 for one in codes], axis=0)
        picked = np.minimum(sums, len(pool) - 1).tolist()
    if noise:
        other = draw.codes(n, len(pool))
        picked = [o if draw.chance(noise) else p for p, o in zip(picked, other, strict=True)]
    if style > 94 and len(pool) > 1:  # one record of one class
        picked = [max(p, 1) for p in picked]
        picked[draw.below(n)] = 0
    return tuple(pool[p] for p in picked)


def build(case, part="values"):
    """Return the table of a case: of the training records, or of the new ones (part "new")."""
    lists = [list(getattr(column, part)) for column in case.columns]
    if case.library in ("numpy", "lists"):
        rows = [list(row) for row in zip(*lists, strict=True)]
        X = evaluate(case.columns[0].kind.code, v=rows)
    else:
        made = [evaluate(column.kind.code, v=v) for column, v in zip(case.columns, lists, strict=True)]
        X = _ASSEMBLE[case.library](case.names, made)
    return X if case.layout == "X" else evaluate(case.layout, X=X)


def build_labels(case):
    return evaluate(case.label_kind.code, v=list(case.labels))


def _assemble_pandas(found, columns):
    if are_simple(found):
        return pd.DataFrame(dict(zip(found, columns, strict=True)))
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = pd.Index(found, dtype=object, tupleize_cols=are_pairs(found))
    return frame


def are_pairs(found):
    """Return whether all names are pairs of strings, which pandas keeps as a MultiIndex."""
    return all(type(name) is tuple and list(map(type, name)) == [str, str] for name in found)


def are_simple(found):
    """Return whether names can be the keys of a dict from which pandas makes a table."""
    return all(type(name) is str and name.isprintable() for name in found) and len(set(found)) == len(found)


_ASSEMBLE = {
    "pandas": _assemble_pandas,
    "polars": lambda found, columns: pl.DataFrame(dict(zip(found, columns, strict=True))),
    "arrow": lambda found, columns: pa.table(columns, names=found),
}


def code_of(case, part="values", variable="X"):
    """Return the lines of source that build the table of a case, as `build` does."""
    lists = [getattr(column, part) for column in case.columns]
    if case.library in ("numpy", "lists"):
        rows = "[" + ", ".join(source(list(row)) for row in zip(*lists, strict=True)) + "]"
        lines = [f"{variable} = {_put(case.columns[0].kind.code, rows)}"]
    else:
        made = [_put(column.kind.code, source(list(v))) for column, v in zip(case.columns, lists, strict=True)]
        if case.library == "arrow":
            inside = ",\n    ".join(made)
            lines = [f"{variable} = pa.table([\n    {inside},\n], names={source(case.names)})"]
        else:
            simple = case.library == "polars" or are_simple(case.names)
            keys = case.names if simple else range(len(made))
            inside = "".join(f"    {source(key)}: {code},\n" for key, code in zip(keys, made, strict=True))
            lines = [f"{variable} = {'pl' if case.library == 'polars' else 'pd'}.DataFrame({{\n{inside}}})"]
            if not simple:
                index = f"pd.Index({source(case.names)}, dtype=object, tupleize_cols={are_pairs(case.names)})"
                lines.append(f"{variable}.columns = {index}")
    if case.layout != "X":
        lines.append(f"{variable} = {_rename(case.layout, variable)}")
    return lines


def labels_code(case):
    return f"y = {_put(case.label_kind.code, source(list(case.labels)))}"


def _put(code, values):
    """Return an expression of v with the values in place of v."""
    if len(re.findall(r"\bv\b", code)) > 1:
        return f"(lambda v: {code})({values})"
    return re.sub(r"\bv\b", lambda _: values, code)


def _rename(layout, variable):
    return re.sub(r"\bX\b", variable, layout)


def slice_records(X, begin, end):
    """Return the records of a table from begin to end, by the natural means of its library."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[begin:end]
    return X.slice(begin, end - begin) if isinstance(X, pa.Table) else X[begin:end]


def take_records(X, order):
    """Return the records of a table in another order."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[order]
    if isinstance(X, pa.Table):
        return X.take(pa.array(order))
    return [X[i] for i in order] if isinstance(X, list | tuple) else X[np.array(order)]


def take_columns(X, order):
    """Return a table with its columns in another order; None if they have no names."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, order]
    if isinstance(X, pl.DataFrame):
        found = X.get_columns()
        return pl.DataFrame({found[j].name: found[j] for j in order})
    return X.select(order) if isinstance(X, pa.Table) else None
