"""Accuracy against size: variants of the classifier beside trees, risk scores and other models as large.

    python benchmarks/frontier.py --data FOLDER [--tables NAME ...] [--exclude NAME ...] [--splits 5] [--jobs 1]
                                  [--first-split 0]
                                  [--variants NAME ... | all] [--rivals NAME ... | none] [--budgets [NAME ...]]
                                  [--results FILE [--resume]] [--markdown FILE] [--figure FILE] [--calibration FILE]

Random stratified 80/20 splits; figures are of held-out records, means over splits (standard deviation of balanced
accuracy in brackets), and never the best of several runs. ``FOLDER`` holds CSV files, in it or in its subfolders, each
with the target in the last column ``class``; without it, tables that scikit-learn ships are used.

Size is what a reader meets. statements: rules, fallback rules and the default label; leaves of a tree. conditions:
those of all rules and fallback rules, and each pair of a sign and a label of the scorecards once; of a tree, those of
its leaves written as rules, in which all tests of one column are one condition; signs of a risk score. overlap and
uncovered: shares of training records under two or more rules and under none. Leaves of trees are drawn to their
parents, as if they had ten records more, for AUC, log loss and Brier score.

Differences are "ours minus rival": the mean over tables of the mean difference over splits (standard error over
tables in brackets), and on how many tables it is above 0.

Calibration compares the probabilities of held-out records with what happened, under the class weights that the
probabilities are for. If variants with other numbers of candidates are run, a section compares them with the default.

LicketySPLIT and the risk scores and small trees of imodels are run if these packages are installed; FasterRisk if
``--fasterrisk-python`` names an interpreter that has it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import _calibration
from _figures import draw
from _models import CANDIDATES, MAIN, OTHERS, VARIANTS, Choice, available, rival_names
from _paper import parser
from _results import Results, ResultsError, Task, run_all
from _summary import GROUPS, as_frame, more_search, pages
from _tables import TableNameError, Tables


def checked(arguments, names, known, what):
    """Return names, all of which are known."""
    unknown = [name for name in names if name not in known]
    if unknown:
        arguments.error(f"unknown {what}: {', '.join(unknown)}; known: {', '.join(known)}")
    return tuple(names)


def read_choice(arguments, options):
    """Return the models that the options ask for."""
    known = [*VARIANTS, *OTHERS]
    asked = known if options.variants == ["all"] else options.variants or list(MAIN)
    variants = () if asked == ["none"] else available(checked(arguments, asked, known, "variants"))
    budgets = ["default", "conjunctions"] if options.budgets == [] else options.budgets or []
    budgets = available(checked(arguments, budgets, VARIANTS, "variants"))
    rivals, python = options.rivals, options.fasterrisk_python
    if rivals is not None:
        rivals = () if rivals == ["none"] else checked(arguments, rivals, rival_names(python), "rivals")
    return Choice(variants, budgets, rivals, python)


def read_arguments(argv):
    """Return the parser of the command line and its options."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--tables", nargs="+", metavar="NAME", help="only these tables, or those in these subfolders"
    )
    arguments.add_argument("--exclude", nargs="+", metavar="NAME", help="leave out these tables or subfolders")
    arguments.add_argument("--splits", type=int, default=5, help="number of splits, 5 if not given")
    arguments.add_argument("--first-split", type=int, default=0, help="seed of the first split, 0 if not given")
    arguments.add_argument("--jobs", type=int, default=1, help="number of processes, 1 if not given")
    arguments.add_argument(
        "--variants",
        nargs="+",
        metavar="NAME",
        help=f"only these, or all, or none, of: {', '.join([*VARIANTS, *OTHERS])}",
    )
    arguments.add_argument(
        "--rivals", nargs="+", metavar="NAME", help=f"only these, or none, of: {', '.join(rival_names())}"
    )
    arguments.add_argument(
        "--budgets",
        nargs="*",
        metavar="VARIANT",
        help="also these variants (default and conjunctions if none is named) within budgets of statements and "
        "conditions, beside trees as large",
    )
    arguments.add_argument("--fasterrisk-python", metavar="PATH", help="a Python interpreter that has fasterrisk")
    arguments.add_argument("--results", type=Path, metavar="FILE", help="keep the figures there, as JSON lines")
    arguments.add_argument("--resume", action="store_true", help="continue the file of --results")
    arguments.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables there")
    arguments.add_argument("--figure", type=Path, metavar="FILE", help="draw the budgets there (.png or .svg)")
    arguments.add_argument("--figure-tables", choices=list(GROUPS), default="all", help="the tables of the figure")
    arguments.add_argument(
        "--figure-title", metavar="TEXT", help="title of the figure, instead of one from the results"
    )
    arguments.add_argument(
        "--calibration",
        type=Path,
        metavar="FILE",
        help="draw probabilities against observed shares there (.png or .svg)",
    )
    options = arguments.parse_args(argv)
    if options.first_split < 0:
        arguments.error("--first-split must be at least 0")
    if options.splits < 1 or options.jobs < 1:
        arguments.error("--splits and --jobs must be at least 1")
    if options.resume and options.results is None:
        arguments.error("--resume needs --results")
    if options.figure and options.budgets is None:
        options.budgets = []
    return arguments, options


def notes(rows):
    """Return what a reader of the tables must know: models that failed, and searches that a limit of time ended."""
    failed = [f"{row['model']} on split {row['split']} of {row['table']}" for row in rows if "error" in row]
    stopped = Counter(row["model"] for row in rows if row.get("stopped"))
    found = [f"Failed: {'; '.join(failed)}."] if failed else []
    if stopped:
        listed = ", ".join(f"{model} ({times})" for model, times in stopped.items())
        found.append(f"Ended by a limit of time, so that another run may differ (number of splits): {listed}.")
    return found


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    arguments, options = read_arguments(argv)
    choice = read_choice(arguments, options)
    try:
        tables = Tables(options.data, options.tables, options.exclude)
        results = Results(options.results, resume=options.resume)
        print(f"tables: {', '.join(tables.names)}", file=sys.stderr)
        tasks = [
            Task(options.data, name, split, choice, results.of(name, split))
            for name in tables.names
            for split in range(options.first_split, options.first_split + options.splits)
        ]
        run_all(tasks, results, jobs=options.jobs)
    except (TableNameError, ResultsError) as error:
        raise SystemExit(f"frontier.py: {error}") from error
    order = [model.name for model in choice.plan()]
    rows = [
        results.rows[name, split, model]
        for name in tables.names
        for split in range(options.first_split, options.first_split + options.splits)
        for model in order
        if (name, split, model) in results.rows
    ]
    frame = as_frame(rows)
    found = pages(frame, choice.listed(), choice.pairs(), choice.budget_pairs())
    found += [*more_search(frame, CANDIDATES), *_calibration.section(frame, choice.listed()), *notes(rows)]
    print("\n\n".join(found))
    if options.markdown:
        options.markdown.write_text("\n\n".join(found) + "\n", encoding="utf8")
    if options.figure:
        draw(frame, options.figure, choice.budgets, options.figure_tables, options.figure_title)
    if options.calibration:
        _calibration.draw(frame, options.calibration)


if __name__ == "__main__":
    main()
