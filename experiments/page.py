"""The page to read: every figure beside the paper's, and its discussion."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd

from experiments import figures as pictures
from experiments.printed import PAPER_RUNS, TABLE_1, TABLE_2, TABLE_3
from experiments.tables import load

DISCUSSION = Path(__file__).parent / "discussion.md"
COLUMNS = {
    "rules": "rules",
    "conditions": "conditions",
    "bacc": "balanced accuracy",
    "auc": "AUC, hard labels",
    "diversity": "diversity",
    "overlap": "overlap",
}
_DIGITS = {"rules": 1, "conditions": 2, "bacc": 3, "auc": 3, "diversity": 2, "overlap": 0}
_LAMBDA = {"none": "lambda none", "permissive": "lambda permissive", "strict": "full method"}
_NAMES = {
    "CBA": "CBA",
    "CN2": "CN2",
    "IDS": "IDS, tuned",
    "IDS, published settings": "IDS, published settings",
    "first pass": "DRS, first pass",
    "full method": "DRS, full method",
    "default": "this package's default",
    "tree like full method": "tree, leaves as DRS has rules",
    "tree like default": "tree, leaves as the default has rules",
}


def write(frame: pd.DataFrame, tables: list[str], n_splits: int, data: str | None, results: Path) -> Path:
    """Write the page and its pictures; return where the page is.

    Parameters
    ----------
    frame : a row a fit, with the columns table, split, model, k, and figures
    tables : the tables in order
    n_splits : how many splits there are
    data : where the tables come from
    results : the folder to write to
    """
    results.mkdir(parents=True, exist_ok=True)
    whole, limited = frame[frame["k"].isna()], frame[frame["k"].notna()]
    pictures.compared(whole, tables, results / "table3.png")
    pictures.limited(limited, tables, results / "limited_rules.png")
    parts = [_head(n_splits, whole), _words(tables, n_splits), _table_1(tables, data), _table_2(whole, tables)]
    parts += [_table_3(whole, tables), _ids(whole, tables), _limited(limited, tables), _candidates(whole, tables)]
    page = results / "README.md"
    part = results / "README.md.part"
    part.write_text("\n\n".join(filter(None, parts)) + "\n", encoding="utf8")
    part.replace(page)
    return page


def noise(spread: float, n_splits: int, digits: int) -> float:
    """Return the largest difference that chance and rounding explain: two standard errors of both means together."""
    return 2 * spread * math.sqrt(1 / n_splits + 1 / PAPER_RUNS) + 0.5 * 10**-digits


def cell(values: pd.Series, printed: float | None, column: str) -> str:
    """Return `here ± spread / paper / difference`, the difference in bold where chance does not explain it."""
    digits = _DIGITS[column]
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    here = f"{mean:.{digits}f} ± {spread:.{digits}f}"
    if printed is None:
        return here
    difference = mean - printed
    sign = f"{round(difference, digits) + 0.0:+.{digits}f}"
    beyond = abs(difference) > noise(spread, len(values), 2)
    return f"{here} / {printed:.2f} / {f'**{sign}**' if beyond else sign}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _values(frame: pd.DataFrame, name: str, model: str, column: str) -> pd.Series:
    return frame.loc[(frame["table"] == name) & (frame["model"] == model), column]


def _head(n_splits: int, frame: pd.DataFrame) -> str:
    words = [
        f"Made by `make paper` (`python -m experiments.paper`): {n_splits} random stratified 80/20 splits of each",
        f"table, {len(frame):,} fits for the tables and more for the figure. Balanced accuracy and AUC are of the",
        "held-out fifth; rules, conditions, diversity and overlap of the training part. Each cell reads",
        "**here ± standard deviation over splits / the paper's print / difference**. A difference is bold where",
        "chance and rounding do not explain it: where it exceeds two standard errors of the two means together (the",
        f"paper's are taken for means of {PAPER_RUNS} runs, as its counts end in .33 and .67) and half of the last",
        "printed digit.",
    ]
    picture = "![Table 3 as a picture: each method here and in the paper](table3.png)"
    return "\n\n".join(["# The paper's tables and figures, made anew", "\n".join(words), picture])


def _words(tables: list[str], n_splits: int) -> str:
    if len(tables) < len(TABLE_1) or n_splits < 10:
        return (
            "A quick run, or one of some tables: what reproduced and what did not stands on the page of the full run."
        )
    return DISCUSSION.read_text(encoding="utf8").strip()


def _table_1(tables: list[str], data: str | None) -> str:
    rows = []
    for name in tables:
        X, y = load(name, data)
        counts = pd.Series(y).value_counts()
        is_text = [not pd.api.types.is_numeric_dtype(X[column]) for column in X]
        bins = sum(X[column].nunique() if text else 5 for column, text in zip(X, is_text, strict=True))
        printed = TABLE_1[name]
        here = (len(y), counts.size, counts.max() / counts.min())
        cells = [f"{here[0]} / {printed[0]}", f"{here[1]} / {printed[1]}", f"{here[2]:.2f} / {printed[2]:.2f}"]
        filled = sum(
            X[column].nunique() if text else pd.cut(X[column], 5).nunique()
            for column, text in zip(X, is_text, strict=True)
        )
        rows.append([name, *cells, f"{bins}, {bins + X.shape[1]} / {printed[3]}", str(filled)])
    head = ["table", "records", "classes", "largest / smallest class", "binary features", "of these not empty"]
    words = (
        "Here / paper. Binary features: five bins for a numeric column and one for each category, then with one more a "
        "column for missing values, of which there are none; the paper prints the second figure, on iris the first."
    )
    return f"## Table 1: the data\n\n{words}\n\n" + table(head, rows)


def _table_2(frame: pd.DataFrame, tables: list[str]) -> str:
    columns = list(COLUMNS)[:-1]
    rows = []
    for name in tables:
        for word, model in _LAMBDA.items():
            cells = [cell(_values(frame, name, model, c), TABLE_2[name][word][c], c) for c in columns]
            rows.append([name, word, *cells])
    head = ["table", "lambda", *(COLUMNS[c] for c in columns)]
    return "## Table 2: how much the weight of diversity matters\n\n" + table(head, rows)


def _table_3(frame: pd.DataFrame, tables: list[str]) -> str:
    parts = ["## Table 3: predictive power and interpretability, method by method"]
    for name in tables:
        rows = []
        for model, title in _NAMES.items():
            if not len(_values(frame, name, model, "bacc")):
                continue
            printed: dict[str, float] = TABLE_3[name].get("IDS" if model.startswith("IDS") else model, {})
            cells = [cell(_values(frame, name, model, c), printed.get(c), c) for c in COLUMNS]
            soft, seconds = (_values(frame, name, model, c) for c in ("auc of probabilities", "seconds"))
            rows.append([title, *cells, f"{soft.mean():.3f} ± {soft.std(ddof=1):.3f}", f"{seconds.median():.2f}"])
        head = ["method", *COLUMNS.values(), "AUC, probabilities", "seconds"]
        parts.append(f"### {name}\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def _ids(frame: pd.DataFrame, tables: list[str]) -> str:
    """Show what the paper's program's way to predict does to the same rules."""
    rows = []
    for name in tables:
        model = "IDS, published settings"
        if not len(_values(frame, name, model, "bacc")):
            continue
        printed = TABLE_3[name]["IDS"]
        row = [name]
        for column in ("bacc", "auc"):
            for way in ("most precise", "least precise"):
                values = _values(frame, name, model, f"{column}, {way}")
                row.append(f"{values.mean():.3f} ± {values.std(ddof=1):.3f}")
            row.append(f"{printed[column]:.2f}")
        rows.append(row)
    if not rows:
        return ""
    head = ["table", "bacc, most precise decides", "bacc, least precise", "bacc, paper"]
    head += ["AUC, most precise", "AUC, least precise", "AUC, paper"]
    return (
        "## IDS with the settings of the paper's program: which rule decides\n\n"
        "The same rules, the default label being the commonest class of the training part (in ties the first by name), "
        "as in that program.\n\n" + table(head, rows)
    )


def _limited(frame: pd.DataFrame, tables: list[str]) -> str:
    models = list(dict.fromkeys(frame["model"]))
    limits = sorted(frame["k"].dropna().astype(int).unique())
    parts = [
        "## The figure: predictive power with a limited number of rules",
        "The paper prints no numbers with its figure, so there is nothing to set beside it. "
        'Bands are one standard deviation over splits. A tree has at least two leaves, also under "1 rule".',
        "![Balanced accuracy and AUC against the most rules allowed](limited_rules.png)",
    ]
    for name in tables:
        rows = []
        for model in models:
            cells = []
            for k in limits:
                values = frame.loc[(frame["table"] == name) & (frame["model"] == model) & (frame["k"] == k), "bacc"]
                cells.append(f"{values.mean():.3f} ± {values.std(ddof=1):.3f}")
            rows.append([_NAMES[model], *cells])
        head = [f"{name}: balanced accuracy", *("1 rule" if k == 1 else f"{k} rules" for k in limits)]
        parts.append(table(head, rows))
    return "\n\n".join(parts)


def _candidates(frame: pd.DataFrame, tables: list[str]) -> str:
    rows = []
    for model in ("CBA", "CN2", "IDS", "IDS, published settings"):
        cells = []
        for name in tables:
            values = _values(frame, name, model, "candidates")
            cells.append(f"{values.mean():,.0f}" if len(values) else "not published")
        rows.append([_NAMES[model], *cells])
    weights = []
    for name in tables:
        tuned = np.array(_values(frame, name, "IDS", "weights").tolist(), dtype=float)
        weights.append(", ".join(f"{w:g}" for w in np.median(tuned, axis=0)))
    rows.append(["weights of IDS, tuned (median)", *weights])
    return (
        "## Candidates used\n\n"
        "Mean over splits: frequent bodies for CBA, bodies judged for CN2, candidate rules for IDS (tuned: "
        "support .1, up to two conditions).\n\n" + table(["method", *tables], rows)
    )
