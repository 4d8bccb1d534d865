"""The commands: their arguments and options, their help, and the order of their steps.

Modules that take long to import are imported inside the commands, so that help is printed at once.
"""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from diverse_rule_sets import __version__
from diverse_rule_sets.cli._clusters import Scheduler, check_not_used, fit_on_cluster
from diverse_rule_sets.cli._errors import UsageError, option_errors
from diverse_rule_sets.cli._options import (
    PAPER_PARAMETERS,
    PARAMETERS,
    REPORT_OPTIONS,
    ROW,
    TEST_SIZE,
    read_database_names,
    with_options,
)
from diverse_rule_sets.cli._reading_options import KIND, MISSING_VALUES, READING

app = typer.Typer(
    name="drs",
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model file, written by drs fit; - for a pipe.")]
TableFile = Annotated[
    str, typer.Argument(metavar="TABLE", help="A CSV, TSV, Parquet or Arrow file, or a folder; - for a pipe.")
]
Target = Annotated[str, typer.Option("--target", "-t", metavar="COL", help="The column with the labels.")]
ModelTarget = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="COL", help="The column with the labels [dim](default that of training)[/dim]."
    ),
]
Weight = Annotated[
    str | None,
    typer.Option("--weight", metavar="COL", help="The column with the weights; whole numbers are counts."),
]
DropUnlabelled = Annotated[bool, typer.Option("--drop-unlabelled", help="Leave out records without a label.")]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="The file to write; - for a pipe.", show_default=False),
]


def _examples(*lines: str) -> str:
    """Return the examples at the end of a help text, one per line."""
    return "\n\n".join(["[bold]Examples[/bold]", *("  " + line.replace("[", r"\[") for line in lines)])


def _show_version(given: bool) -> None:
    if given:
        sys.stdout.write(f"drs {__version__}\n")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog=_examples(
        "drs fit people.csv --target income -o model.json",
        "drs show model.json",
        "drs predict model.json new.csv -o labels.csv",
    ),
)
def overview(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", hidden=True)] = False,
) -> None:
    """Learn a small set of readable if-then rules from a table, inspect them, and use them."""
    if context.invoked_subcommand is None:
        sys.stdout.write(context.get_help())


@app.command(
    epilog=_examples(
        "drs fit people.csv --target income -o model.json",
        "drs fit people.csv -t income --drop id --max-rules 10 --kind zip=text",
        "drs fit people.csv -t income --forbidden sex --monotone age=increasing",
        "drs fit people.parquet -t income --class-weight none --test-size 0 -o model.json",
        "drs fit people.csv -t income --missing-values '?' --missing-values age=-9",
        "drs fit people.csv -t income --weight persons",
        "drs fit people.csv -t income --separator ';' --decimal ,",
        "zcat people.csv.gz | drs fit - -t income -o - > model.json",
    )
)
@with_options(
    splitting=(TEST_SIZE,), reading=(*READING, KIND), parameters=(*PARAMETERS, MISSING_VALUES, *PAPER_PARAMETERS)
)
def fit(
    table: TableFile,
    target: Target,
    reading: dict[str, Any],
    parameters: dict[str, Any],
    splitting: dict[str, Any],
    output: Output = None,
    drop: Annotated[
        list[str] | None, typer.Option("--drop", metavar="COL", help="Leave out a column, such as an id (repeat).")
    ] = None,
    drop_unlabelled: DropUnlabelled = False,
    weight: Weight = None,
    scheduler: Scheduler = None,
    as_in_paper: Annotated[
        bool, typer.Option("--as-in-paper", help="Use the method and the defaults of the KDD 2020 paper.")
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Print plain text, without colours and bars.")] = False,
    verbose: Annotated[
        int,
        typer.Option("--verbose", "-v", count=True, help="Print the progress to standard error.", show_default=False),
    ] = 0,
) -> None:
    """Learn rules from a table, print them, and write them to a model file.

    The rules that are printed and written are learnt from all records.

    Before that, rules learnt from three quarters of the records are measured on the other quarter.
    """
    from diverse_rule_sets.cli._files import STANDARD, check_inputs, check_output, write_text
    from diverse_rule_sets.cli._fitting import check_parameters, fit_and_measure, read_records
    from diverse_rule_sets.cli._messages import print_held_out
    from diverse_rule_sets.cli._terminal import show_rules

    check_inputs(table)
    check_output(output, table)
    check_parameters(parameters, as_in_paper)
    test_size = splitting.get(TEST_SIZE.name, TEST_SIZE.default)
    if scheduler is None:
        records = read_records(table, reading, parameters, target, drop or [], drop_unlabelled, weight)
        rule_set, held_out = fit_and_measure(records, parameters, as_in_paper, verbose, test_size)
    else:
        check_not_used({"--weight": weight, "--drop-unlabelled": drop_unlabelled})
        rule_set = fit_on_cluster(scheduler, table, reading, parameters, target, drop or [], as_in_paper, verbose)
        held_out = None
    if output is not None:  # before printing: the reader of the standard output may close it
        write_text(rule_set.to_json(), output)
    stream = sys.stderr if output == STANDARD else sys.stdout
    show_rules(rule_set, plain, stream)
    if held_out is not None:
        print_held_out(*held_out, stream)


@app.command(epilog=_examples("drs show model.json", "drs show model.json --plain > rules.txt"))
def show(
    model: Model,
    plain: Annotated[bool, typer.Option("--plain", help="Print plain text, without colours and bars.")] = False,
) -> None:
    """Print the rules of a model."""
    from diverse_rule_sets.cli._files import check_inputs, read_model
    from diverse_rule_sets.cli._terminal import show_rules

    check_inputs(model)
    show_rules(read_model(model), plain)


@app.command(
    epilog=_examples(
        "drs predict model.json new.csv -o labels.csv",
        "drs predict model.json new.parquet --proba --keep id -o labels.parquet",
        "cat new.csv | drs predict model.json - --keep all | head",
    )
)
@with_options(reading=READING)
def predict(
    model: Model,
    table: TableFile,
    reading: dict[str, Any],
    output: Output = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also write the probability of each class.")] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COL", help="Also write a column of the table (repeat); all for all."),
    ] = None,
    prefix: Annotated[str, typer.Option(metavar="TEXT", help="Start of the names of the new columns.")] = "",
) -> None:
    """Predict the label of each record, and write it with the number of the deciding rule.

    Rules are numbered as drs show prints them. The number is empty if no rule and no fallback rule decides.

    Columns are read with the types that they had in training.
    """
    from diverse_rule_sets.cli._batches import is_large, predict_in_batches
    from diverse_rule_sets.cli._files import check_inputs, check_output, read_model
    from diverse_rule_sets.cli._predicting import check_writer, has_types, load_for, predictions, write_frame

    check_inputs(model, table)
    check_writer(output)
    check_output(output, model, table)
    rule_set = read_model(model)
    if is_large(table):
        predict_in_batches(rule_set, table, reading, keep or [], proba, prefix, output, has_types(output))
        return
    loaded = load_for(rule_set, table, reading, keep or [])
    write_frame(predictions(rule_set, loaded, keep or [], proba, prefix, has_types(output)), output)


@app.command(
    epilog=_examples(
        "drs evaluate model.json test.csv",
        "drs evaluate model.json test.csv --target income_2024",
        "drs evaluate model.json test.csv --json | jq .accuracy",
    )
)
@with_options(reading=READING)
def evaluate(
    model: Model,
    table: TableFile,
    reading: dict[str, Any],
    target: ModelTarget = None,
    drop_unlabelled: DropUnlabelled = False,
    weight: Weight = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")] = False,
) -> None:
    """Measure a model on records with known labels, overall and for each rule."""
    from diverse_rule_sets.cli._batches import evaluation_in_batches, is_large
    from diverse_rule_sets.cli._files import check_inputs, read_model, write_text
    from diverse_rule_sets.cli._messages import print_evaluation
    from diverse_rule_sets.cli._predicting import evaluation, load_labelled
    from diverse_rule_sets.cli._weights import weighted_records_for

    check_inputs(model, table)
    rule_set = read_model(model)
    if is_large(table):
        facts = evaluation_in_batches(rule_set, table, reading, target, drop_unlabelled, weight)
    else:
        also = [] if weight is None else [weight]
        loaded, target = load_labelled(rule_set, table, reading, target, drop_unlabelled, also)
        facts = evaluation(rule_set, *weighted_records_for(rule_set, loaded, target, weight))
    if as_json:
        write_text(json.dumps(facts, indent=2), None)
    else:
        print_evaluation(facts)


@app.command(
    epilog=_examples(
        "drs explain model.json new.csv --row 17",
        "drs explain model.json new.csv --row 1 --row 2",
        "drs explain model.json new.csv | less",
    )
)
@with_options(selection=(ROW,), reading=READING)
def explain(
    model: Model,
    table: TableFile,
    reading: dict[str, Any],
    selection: dict[str, Any],
    label: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The other label to explain; by default the three nearest.")
    ] = None,
) -> None:
    """Explain the label of each record, and which changes would give another label."""
    from diverse_rule_sets.cli._batches import explanations_in_batches, is_large
    from diverse_rule_sets.cli._files import check_inputs, read_model
    from diverse_rule_sets.cli._predicting import explanations, label_for, load_for, records_for
    from diverse_rule_sets.cli._terminal import show_reason

    check_inputs(model, table)
    rule_set = read_model(model)
    other, rows = None if label is None else label_for(rule_set, label), selection.get(ROW.name)
    if is_large(table):
        texts = explanations_in_batches(rule_set, table, reading, rows, other)
    else:
        texts = explanations(rule_set, records_for(rule_set, load_for(rule_set, table, reading)), rows, other)
    for heading, reason in texts:
        show_reason(heading, reason)


@app.command(
    epilog=_examples(
        "drs report model.json test.csv -o report.html",
        "drs report model.json test.csv --n-samples 0 --title 'Who earns more'",
    )
)
@with_options(options=REPORT_OPTIONS, reading=READING)
def report(
    model: Model,
    table: TableFile,
    reading: dict[str, Any],
    options: dict[str, Any],
    target: ModelTarget = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The HTML file to write.")
    ] = "report.html",
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The heading of the page.")] = None,
    drop_unlabelled: DropUnlabelled = False,
    weight: Weight = None,
) -> None:
    """Write an HTML page about a model and its figures on a table, to open in a browser."""
    from diverse_rule_sets.cli._batches import is_large, source_of
    from diverse_rule_sets.cli._files import check_inputs, check_output, read_model, write_text
    from diverse_rule_sets.cli._fitting import source_records
    from diverse_rule_sets.cli._predicting import ALL, load_labelled, target_of
    from diverse_rule_sets.cli._weights import weighted_records_for
    from diverse_rule_sets.report import html

    check_inputs(model, table)
    check_output(output, model, table)
    rule_set = read_model(model)
    X: Any
    labels: Any
    weights = None
    if is_large(table):
        labels = target_of(rule_set, target)
        X, _, weights = source_records(source_of(table, reading), labels, [], drop_unlabelled, weight).training
    else:
        loaded, target = load_labelled(rule_set, table, reading, target, drop_unlabelled, [ALL])
        shown = [name for name in loaded.names if name not in (target, weight)]
        X, labels, weights = weighted_records_for(rule_set, loaded, target, weight, shown)
    with option_errors(("title", *(option.name for option in REPORT_OPTIONS))):
        page = html(rule_set, X, labels, title=title, sample_weight=weights, **options)
    write_text(page, output)


# The options of each export format.
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
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"One of {', '.join(EXPORTS)}.")],
    output: Output = None,
    dialect: Annotated[
        str | None, typer.Option(metavar="NAME", help="SQL: the database, such as duckdb or postgres.")
    ] = None,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="SQL: the name of the table.")] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COL", help="SQL: also return a column (repeat); by default all."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--columns", metavar="COL=NAME", help="SQL: a column's name in the database (repeat)."),
    ] = None,
    prefix: Annotated[
        str | None, typer.Option(metavar="TEXT", help="SQL, Python: start of the names of the new columns.")
    ] = None,
    kind: Annotated[str | None, typer.Option(metavar="WORD", help="Python: function, pandas or polars.")] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Python: name of the function; PMML: name of the model.")
    ] = None,
) -> None:
    """Export a model as SQL, PMML, Python or JSON, to use it in other programs."""
    from diverse_rule_sets.cli._files import check_inputs, check_output, read_model, write_text

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
        options["columns"] = read_database_names(columns)
    given = {option: value for option, value in options.items() if value not in (None, [])}
    for option in given:
        if option not in EXPORTS[to]:
            raise UsageError(f"--{option} cannot be used with --to {to}")
    check_inputs(model)
    check_output(output, model)
    rule_set = read_model(model)
    with option_errors(EXPORTS[to]):
        text = getattr(rule_set, f"to_{to}")(**given)
    write_text(text, output)
