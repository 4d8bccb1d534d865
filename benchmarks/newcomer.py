"""What a newcomer sees: the default, without any setting, on real tables with text and missing values.

    python benchmarks/newcomer.py --data FOLDER [--tables NAME ...] [--seed 0] [--markdown FILE]

For each table: what ``print(clf.rule_set_)`` prints after a fit on a random stratified 80 %, ``metrics.size``, balanced
accuracy of the other 20 % beside class-balanced trees with as many leaves and with as many conditions (their leaves
written as rules), and ``why`` of the first of these records. Warnings of the fit are printed too. Nothing is chosen by
its result: one seed, one fit, one record.

``FOLDER`` holds CSV files as for ``frontier.py``; without it, tables that scikit-learn ships are used.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from _measuring import Split, timed
from _paper import parser
from _rivals import tree_with_conditions, tree_with_leaves
from _summary import markdown
from _tables import Table, TableNameError, Tables

from diverse_rule_sets import DiverseRuleSetClassifier

# Tables with columns of text, missing values, or both.
TABLES = ("adult", "bank_marketing", "compas", "german", "australian")


def fenced(text: str) -> str:
    """Return text as a block of code in Markdown, whatever the names and values in it contain."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def described(table: Table) -> str:
    """Return the shape of a table in words."""
    n_text = sum(not pd.api.types.is_numeric_dtype(table.X[name]) for name in table.X)
    missing = float(table.X.isna().to_numpy().mean())
    labels = ", ".join(f"{label} ({(table.y == label).mean():.0%})" for label in table.classes)
    return (
        f"{len(table.y):,} records, {table.X.shape[1]} columns ({n_text} of text), {missing:.1%} of the cells missing. "
        f"Labels: {labels}."
    )


def view(table: Table, seed: int) -> str:
    """Return what a newcomer sees of one table, as Markdown."""
    split = Split(table, seed)
    train, test = split.parts
    clf = DiverseRuleSetClassifier(random_state=seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, seconds = timed(lambda: clf.fit(table.X.iloc[train], table.y[train]))
    ours = split.measure_rules(clf.rule_set_, seconds)
    trees = {
        "tree, as many leaves": split.measure_rival(tree_with_leaves(split, int(ours["statements"]))),
        "tree, as many conditions": split.measure_rival(tree_with_conditions(split, int(ours["conditions"]))),
    }
    lines = [
        [name, *(f"{found[size]:.0f}" for size in ("statements", "conditions")), f"{found['bacc']:.3f}"]
        for name, found in {"rules": ours, **trees}.items()
    ]
    sizes = ", ".join(f"{name} {ours[name]}" for name in ("statements", "conditions", "rules", "fallbacks", "signs"))
    parts = [
        f"## {table.name}",
        described(table),
        *(fenced(f"{one.category.__name__}: {one.message}") for one in caught),
        fenced(str(clf.rule_set_)),
        f"Size: {sizes}.",
        markdown("held-out records", ("statements", "conditions", "balanced accuracy"), lines),
        "Why the first held-out record gets its label:",
        fenced(str(clf.why(table.X.iloc[test[0]]))),
    ]
    return "\n\n".join(parts)


def main(argv: Sequence[str] | None = None) -> None:
    """Fit the tables and print what there is to see."""
    arguments = parser(__doc__)
    arguments.add_argument("--tables", nargs="+", metavar="NAME", help=f"tables, {', '.join(TABLES)} if not given")
    arguments.add_argument("--seed", type=int, default=0, help="random_state of split and models, 0 if not given")
    arguments.add_argument("--markdown", type=Path, metavar="FILE", help="also write it there")
    options = arguments.parse_args(argv)
    chosen = options.tables or (list(TABLES) if options.data else None)
    title = (
        "# A newcomer's view\n\nThe default settings on a random 80 % of each table; the accuracy is of the other 20 %."
    )
    found = [title]
    try:
        tables = Tables(options.data, chosen)
        print(title)
        for name in tables.names:
            found.append(view(tables.load(name), options.seed))
            print(f"\n{found[-1]}", flush=True)
    except TableNameError as error:
        raise SystemExit(f"newcomer.py: {error}") from error
    if options.markdown:
        options.markdown.write_text("\n\n".join(found) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
