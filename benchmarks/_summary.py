"""Tables of the frontier: means over splits and tables, and paired differences with their standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from _measuring import FIGURES

GROUPS = {"two": "two classes", "more": "more than two classes", "all": "all tables"}
FORMS = {
    **dict.fromkeys(("statements", "conditions", "rules", "fallbacks", "signs"), "{:.1f}"),
    **{"overlap": "{:.2%}", "uncovered": "{:.1%}", "seconds": "{:.2f}"},
}


class Difference(NamedTuple):
    """Ours minus a rival, over tables.

    Parameters
    ----------
    mean : mean over tables of the mean difference over splits
    error : standard error of the mean over tables; NaN for one table
    ahead : number of tables with a positive difference
    tables : number of tables on which both models have figures of the same split
    """

    mean: float
    error: float
    ahead: int
    tables: int

    def __str__(self) -> str:
        error = "" if np.isnan(self.error) else f" ({self.error:.3f})"
        return f"{self.mean:+.3f}{error}, ahead on {self.ahead} of {self.tables}"


def as_frame(rows: Sequence[dict[str, object]]) -> pd.DataFrame:
    """Return rows as a frame that has all figures."""
    frame = pd.DataFrame([row for row in rows if "error" not in row and "absent" not in row])
    return frame.reindex(columns=[*dict.fromkeys([*frame.columns, *FIGURES])])


def groups(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows of two-class tables, of tables with more classes, and of all; groups that differ only."""
    parts = {"two": frame[frame["classes"] == 2], "more": frame[frame["classes"] > 2]}
    parts = {name: part for name, part in parts.items() if len(part)}
    return parts if len(parts) < 2 else {**parts, "all": frame}


def difference(frame: pd.DataFrame, ours: str, rival: str, figure: str) -> Difference | None:
    """Return ours minus a rival in one figure, on the splits of which both have it; None if there are none."""
    by_split = frame.set_index(["table", "split"])
    gaps = by_split.loc[by_split["model"] == ours, figure] - by_split.loc[by_split["model"] == rival, figure]
    by_table = gaps.dropna().groupby(level="table").mean()
    if by_table.empty:
        return None
    error = float(by_table.std(ddof=1) / len(by_table) ** 0.5) if len(by_table) > 1 else float("nan")
    return Difference(float(by_table.mean()), error, int((by_table > 0).sum()), len(by_table))


def markdown(title: str, header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    rows = [[title, *header], ["---"] * (len(header) + 1), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _cells(mean: pd.Series, spread: float) -> list[str]:
    cells = []
    for figure in FIGURES:
        value = mean[figure]
        text = "" if np.isnan(value) else FORMS.get(figure, "{:.3f}").format(value)
        cells.append(f"{text} ({spread:.3f})" if figure == "bacc" and not np.isnan(spread) else text)
    return cells


def means_of_table(frame: pd.DataFrame, order: Sequence[str]) -> str:
    """Return the mean figures over the splits of one table, with the standard deviation of balanced accuracy."""
    first = frame.iloc[0]
    title = f"{first['table']}, {first['records']:,} x {first['columns']}, {first['classes']} classes"
    by_model = frame.groupby("model")
    mean, spread = by_model[list(FIGURES)].mean(), by_model["bacc"].std()
    known = [model for model in order if model in mean.index]
    return markdown(title, FIGURES, [[model, *_cells(mean.loc[model], spread[model])] for model in known])


def means_over_tables(frame: pd.DataFrame, order: Sequence[str], group: str) -> str:
    """Return the mean figures over tables; models without figures on some of the tables are named below it."""
    n_tables = frame["table"].nunique()
    by_table = frame.groupby(["model", "table"])[list(FIGURES)].mean()
    counts = by_table.groupby("model").size()
    mean = by_table.groupby("model").mean()
    complete = [model for model in order if counts.get(model, 0) == n_tables]
    title = f"mean of {n_tables} tables, {GROUPS[group]}"
    text = markdown(title, FIGURES, [[model, *_cells(mean.loc[model], float("nan"))] for model in complete])
    part = [f"{model} ({counts[model]})" for model in order if 0 < counts.get(model, 0) < n_tables]
    return text + (f"\n\nNot in this table, because on fewer tables: {', '.join(part)}." if part else "")


def _of_one_group(frame: pd.DataFrame) -> set[str]:
    """Return the models that have figures on tables with two classes only, or with more only."""
    kinds = frame.assign(two=frame["classes"] == 2).groupby("model")["two"].nunique()
    return set(kinds.index[kinds == 1])


def differences(frame: pd.DataFrame, pairs: Sequence[tuple[str, str]], title: str) -> str | None:
    """Return paired differences, with the mean sizes and figures of both models on the tables that both have.

    Returns None if there are none.
    """
    lines = []
    means = frame.groupby(["model", "table"])[["statements", "conditions", "bacc", "auc"]].mean()
    for ours, rival in pairs:
        found = [difference(frame, ours, rival, figure) for figure in ("bacc", "auc")]
        if found[0] is None:
            continue
        common = means.loc[ours].index.intersection(means.loc[rival].index)
        both = [means.loc[model].loc[common].mean() for model in (ours, rival)]
        cells = [
            " / ".join("-" if np.isnan(mean[figure]) else form.format(mean[figure]) for mean in both)
            for figure, form in zip(means, ("{:.1f}", "{:.1f}", "{:.3f}", "{:.3f}"), strict=True)
        ]
        lines.append([f"{ours} - {rival}", *cells[:2], cells[2], str(found[0]), cells[3], str(found[1])])
    header = ("statements", "conditions", "bacc", "difference", "auc", "difference")
    return markdown(title, header, lines) if lines else None


def more_search(frame: pd.DataFrame, candidates: Mapping[str, int]) -> list[str]:
    """Return a section on the number of candidates for each rule; empty if no variant with another number was run.

    Figures of a variant are means over the tables that the default has too.

    Parameters
    ----------
    frame : the figures of all models
    candidates : the number of candidates of variants; that of the default is compared with the others
    """
    known = [name for name in sorted(candidates, key=lambda name: candidates[name]) if (frame["model"] == name).any()]
    if "default" not in known or len(known) < 2:
        return []
    found = [
        "### More search\n\nThe number of candidates for each rule; differences are those to the default, with their "
        "standard errors over tables."
    ]
    for group, part in groups(frame).items():
        lines, means = (
            [],
            part.groupby(["model", "table"])[["statements", "conditions", "seconds", "bacc", "auc"]].mean(),
        )
        for name in known:
            gaps = [difference(part, name, "default", figure) for figure in ("bacc", "auc")]
            if gaps[0] is None:
                continue
            both = means.loc[name].index.intersection(means.loc["default"].index)
            mean = means.loc[name].loc[both].mean()
            sizes = [FORMS[figure].format(mean[figure]) for figure in ("statements", "conditions", "seconds")]
            texts = ["default" if name == "default" else str(gap) for gap in gaps]
            cells = [f"{mean['bacc']:.3f}", texts[0], f"{mean['auc']:.3f}", texts[1]]
            lines.append([str(candidates[name]), *sizes, *cells])
        title = f"{GROUPS[group]} ({part['table'].nunique()}): candidates"
        header = ("statements", "conditions", "seconds", "bacc", "difference", "auc", "difference")
        found += [markdown(title, header, lines)] if lines else []
    return found


def pages(
    frame: pd.DataFrame,
    order: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    budget_pairs: Sequence[tuple[str, str]] = (),
) -> list[str]:
    """Return all tables: each table, then means, paired differences and budgets for each group of tables.

    Models that are for some numbers of classes only are not compared over all tables.
    """
    found = []
    for name in dict.fromkeys(frame["table"]):
        found.append(means_of_table(frame[frame["table"] == name], order))
    for group, part in groups(frame).items():
        n_tables = part["table"].nunique()
        left_out = _of_one_group(part) if group == "all" else set()
        if n_tables > 1:
            found.append(means_over_tables(part, [name for name in order if name not in left_out], group))
        for what, chosen in (("ours / rival", pairs), ("budgets, ours / rival", budget_pairs)):
            kept = [pair for pair in chosen if not left_out & set(pair)]
            text = differences(part, kept, f"{GROUPS[group]} ({n_tables}): {what}")
            found += [] if text is None else [text]
    return found
