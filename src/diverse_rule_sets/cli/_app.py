"""The commands: what they take, in which order the rooms beside this one do the work, and help by example.

Whatever takes long to import is imported where a command runs, so that help comes at once.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Annotated, Any

import typer

from diverse_rule_sets import __version__
from diverse_rule_sets.cli._errors import UsageError, complain, naming_options
from diverse_rule_sets.cli._options import (
    PAPER_PARAMETERS,
    PARAMETERS,
    ROW,
    SHOWN,
    TEST_SIZE,
    names_in_database,
    taking,
)
from diverse_rule_sets.cli._reading_options import KIND, READING

app = typer.Typer(
    name="drs",
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model file that fit wrote; - for a pipe.")]
TableFile = Annotated[str, typer.Argument(metavar="TABLE", help="CSV, TSV, Parquet or Arrow; - for a pipe.")]
Target = Annotated[str, typer.Option("--target", "-t", metavar="COL", help="The column with the labels.")]
DropUnlabelled = Annotated[bool, typer.Option("--drop-unlabelled", help="Leave out records without a label.")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - for a pipe.", show_default=False)
]


def _examples(*lines: str) -> str:
    """Return example lines for the end of a help page, each on a line of its own."""
    return "\n\n".join(["[bold]Examples[/bold]", *("  " + line.replace("[", r"\[") for line in lines)])


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"drs {__version__}\n")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog=_examples(
        "drs fit people.csv --target income -o model.json",
        "drs show model.json",
        "drs predict model.json new.csv -o answers.csv",
    ),
)
def overview(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", hidden=True)] = False,
) -> None:
    """Rules that one can read: learn a small set of if-then rules from a table, look at them, use them."""
    if context.invoked_subcommand is None:
        sys.stdout.write(context.get_help())


@app.command(
    epilog=_examples(
        "drs fit people.csv --target income -o model.json",
        "drs fit people.csv -t income --drop id --max-rules 10 --kind zip=text",
        "drs fit people.csv -t income --forbidden sex --monotone age=increasing",
        "drs fit people.parquet -t income --class-weight none --test-size 0 -o model.json",
        "drs fit people.csv -t income --separator ';' --decimal ,",
        "zcat people.csv.gz | drs fit - -t income -o - > model.json",
    )
)
@taking(measuring=(TEST_SIZE,), reading=(*READING, KIND), parameters=(*PARAMETERS, *PAPER_PARAMETERS))
def fit(
    table: TableFile,
    target: Target,
    reading: dict[str, Any],
    parameters: dict[str, Any],
    measuring: dict[str, Any],
    output: Output = None,
    drop: Annotated[
        list[str] | None, typer.Option("--drop", metavar="COL", help="Leave a column out, such as an id (repeat).")
    ] = None,
    drop_unlabelled: DropUnlabelled = False,
    as_in_paper: Annotated[
        bool, typer.Option("--as-in-paper", help="The method of the KDD 2020 paper, with its settings.")
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Plain text, without colours and bars.")] = False,
    verbose: Annotated[
        int,
        typer.Option("--verbose", "-v", count=True, help="Say how far it is, on the error stream.", show_default=False),
    ] = 0,
) -> None:
    """Learn rules from a table, print them, and write them to a model file.

    A quarter of the records is held out first, and rules learnt from the others are measured on it.

    The rules that are printed and written are then learnt from all records.
    """
    from diverse_rule_sets.cli._files import STANDARD, check_output, write_text
    from diverse_rule_sets.cli._fitting import check_parameters, held_out, learnt, records_of
    from diverse_rule_sets.cli._messages import tell_held_out
    from diverse_rule_sets.cli._reading import load
    from diverse_rule_sets.cli._terminal import show_rules

    check_output(output, table)
    check_parameters(parameters, as_in_paper)
    test_size = measuring.get(TEST_SIZE.name, TEST_SIZE.default)
    records = records_of(load(table, reading), target, drop or [], drop_unlabelled)
    parts = held_out(records.y, test_size, parameters.get("random_state", 0)) if test_size else None
    tried = None
    if parts is not None:
        inside, outside = (records.taken(rows) for rows in parts)
        with warnings.catch_warnings(action="ignore"):  # said again when all records are looked at
            tried = learnt(inside, parameters, as_in_paper, verbose, "learning from a part")
    elif test_size:
        complain("too few records to hold some of each class out: nothing is measured", "warning")
    rule_set = learnt(records, parameters, as_in_paper, verbose, "learning from all")
    if output is not None:  # first of all: whoever reads the page may go away
        write_text(rule_set.to_json(), output)
    stream = sys.stderr if output == STANDARD else sys.stdout
    show_rules(rule_set, plain, stream)
    if tried is not None:
        tell_held_out(tried, outside, len(inside.y), stream)


@app.command(epilog=_examples("drs show model.json", "drs show model.json --plain > rules.txt"))
def show(
    model: Model,
    plain: Annotated[bool, typer.Option("--plain", help="Plain text, without colours and bars.")] = False,
) -> None:
    """Print the rules of a model as a page to read."""
    from diverse_rule_sets.cli._files import read_model
    from diverse_rule_sets.cli._terminal import show_rules

    show_rules(read_model(model), plain)


@app.command(
    epilog=_examples(
        "drs predict model.json new.csv -o answers.csv",
        "drs predict model.json new.parquet --proba --keep id -o answers.parquet",
        "cat new.csv | drs predict model.json - --keep all | head",
    )
)
@taking(reading=READING)
def predict(
    model: Model,
    table: TableFile,
    reading: dict[str, Any],
    output: Output = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also the probability of each class.")] = False,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", metavar="COL", help="Carry a column over (repeat); all for all.")
    ] = None,
    prefix: Annotated[str, typer.Option(metavar="TEXT", help="Put before the names of new columns.")] = "",
) -> None:
    """Predict: write each record's label and the number of the rule that spoke.

    The number is that of the printed page; it is empty where no rule and no fallback spoke.

    Columns are read as the kinds that they had in training.
    """
    from diverse_rule_sets.cli._files import check_output, not_twice, read_model
    from diverse_rule_sets.cli._predicting import check_writer, has_types, load_for, predictions, write_frame

    not_twice(model, table)
    check_writer(output)
    check_output(output, model, table)
    rule_set = read_model(model)
    loaded = load_for(rule_set, table, reading, keep or [])
    write_frame(predictions(rule_set, loaded, keep or [], proba, prefix, has_types(output)), output)


@app.command(
    epilog=_examples(
        "drs evaluate model.json test.csv --target income",
        "drs evaluate model.json test.csv -t income --json | jq .accuracy",
    )
)
@taking(reading=READING)
def evaluate(
    model: Model,
    table: TableFile,
    target: Target,
    reading: dict[str, Any],
    drop_unlabelled: DropUnlabelled = False,
    as_json: Annotated[bool, typer.Option("--json", help="All figures as JSON, for other programs.")] = False,
) -> None:
    """Measure a model on records with known labels: accuracy, confusions, and every rule."""
    from diverse_rule_sets.cli._files import not_twice, read_model, write_text
    from diverse_rule_sets.cli._messages import tell_evaluation
    from diverse_rule_sets.cli._predicting import evaluation, labelled, labels_for, load_for, records_for

    not_twice(model, table)
    rule_set = read_model(model)
    loaded = labelled(load_for(rule_set, table, reading, [target]), target, drop_unlabelled)
    labels = labels_for(rule_set, loaded, target)
    facts = evaluation(rule_set, records_for(rule_set, loaded), labels)
    if as_json:
        write_text(json.dumps(facts, indent=2), None)
    else:
        tell_evaluation(facts)


@app.command(
    epilog=_examples(
        "drs explain model.json new.csv --row 17",
        "drs explain model.json new.csv --row 1 --row 2",
        "drs explain model.json new.csv | less",
    )
)
@taking(chosen=(ROW,), reading=READING)
def explain(
    model: Model,
    table: TableFile,
    reading: dict[str, Any],
    chosen: dict[str, Any],
    label: Annotated[
        str | None, typer.Option(metavar="LABEL", help="What would give this label; by default the three nearest.")
    ] = None,
) -> None:
    """Say in words why each record gets its label, and what would have had to differ for another one."""
    from diverse_rule_sets.cli._files import not_twice, read_model
    from diverse_rule_sets.cli._predicting import explanations, label_for, load_for, records_for
    from diverse_rule_sets.cli._terminal import show_reason

    not_twice(model, table)
    rule_set = read_model(model)
    other = None if label is None else label_for(rule_set, label)
    X = records_for(rule_set, load_for(rule_set, table, reading))
    for head, reason in explanations(rule_set, X, chosen.get(ROW.name, range(1, X.height + 1)), other):
        show_reason(head, reason)


@app.command(
    epilog=_examples(
        "drs report model.json test.csv --target income -o report.html",
        "drs report model.json test.csv --target income --n-samples 0 --title 'Who earns more'",
    )
)
@taking(shown=SHOWN, reading=READING)
def report(
    model: Model,
    table: TableFile,
    target: Target,
    reading: dict[str, Any],
    shown: dict[str, Any],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")] = "report.html",
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The heading of the page.")] = None,
    drop_unlabelled: DropUnlabelled = False,
) -> None:
    """Write one HTML page about a model on a table, to look at in a browser."""
    from diverse_rule_sets.cli._files import check_output, not_twice, read_model, write_text
    from diverse_rule_sets.cli._predicting import ALL, labelled, labels_for, load_for, records_for
    from diverse_rule_sets.report import html

    not_twice(model, table)
    check_output(output, model, table)
    rule_set = read_model(model)
    loaded = labelled(load_for(rule_set, table, reading, [ALL]), target, drop_unlabelled)
    labels = labels_for(rule_set, loaded, target)
    X = records_for(rule_set, loaded, [name for name in loaded.names if name != target])
    with naming_options(("title", *(option.name for option in SHOWN))):
        page = html(rule_set, X, labels, title=title, **shown)
    write_text(page, output)


# What each form of export takes besides the rules.
EXPORTS: dict[str, tuple[str, ...]] = {
    "sql": ("dialect", "table", "keep", "columns", "prefix"),
    "pmml": ("name",),
    "python": ("kind", "name", "prefix"),
    "json": (),
}


@app.command(
    epilog=_examples(
        "drs export model.json --to sql --dialect postgres --table people --keep id -o label.sql",
        "drs export model.json --to python --kind polars -o label.py",
        "drs export model.json --to pmml | less",
    )
)
def export(
    model: Model,
    to: Annotated[str, typer.Option("--to", metavar="FORM", help=f"One of {', '.join(EXPORTS)}.")],
    output: Output = None,
    dialect: Annotated[
        str | None, typer.Option(metavar="NAME", help="SQL of which database, such as duckdb or postgres.")
    ] = None,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="SQL: the name of the table.")] = None,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", metavar="COL", help="SQL: pass on a column (repeat); all by default.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--columns", metavar="COL=NAME", help="SQL: a column's name in the database (repeat)."),
    ] = None,
    prefix: Annotated[str | None, typer.Option(metavar="TEXT", help="SQL, Python: how the new columns begin.")] = None,
    kind: Annotated[str | None, typer.Option(metavar="WORD", help="Python: function, pandas or polars.")] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Python: of the function; PMML: of the model.")
    ] = None,
) -> None:
    """Turn a model into a program for another place: SQL, PMML, Python or JSON."""
    from diverse_rule_sets.cli._files import check_output, read_model, write_text

    if to not in EXPORTS:
        raise UsageError(f"--to must be one of {', '.join(EXPORTS)}, got {to!r}")
    options: dict[str, Any] = {
        "dialect": dialect,
        "table": table,
        "keep": keep,
        "prefix": prefix,
        "kind": kind,
        "name": name,
    }
    if columns:
        options["columns"] = names_in_database(columns)
    given = {option: value for option, value in options.items() if value not in (None, [])}
    for option in given:
        if option not in EXPORTS[to]:
            raise UsageError(f"--{option} does not go with --to {to}")
    check_output(output, model)
    rule_set = read_model(model)
    with naming_options(EXPORTS[to]):
        text = getattr(rule_set, f"to_{to}")(**given)
    write_text(text, output)
