"""What one can do wrong on the command line: one line on the error stream, an exit code, and no file."""

import contextlib
import io
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from diverse_rule_sets.cli import main

TABLE = "x,name,y\n" + "".join(f"{k},n{k},{'ab'[k % 2]}\n" for k in range(30))
MISTAKES = [
    ("fit missing.csv -t y", 1, "missing.csv: No such file"),
    ("fit t.csv -t z", 1, "there is no column 'z'; its columns are 'x', 'name', 'y'"),
    ("fit t.csv -t y --drop z", 1, "there is no column 'z'"),
    ("fit t.csv -t y --drop y", 2, "--drop names the target"),
    ("fit t.csv -t y --drop x --drop name", 1, "no column is left"),
    ("fit gaps.csv -t y", 1, "2 of 4 records have no value in the target 'y'; leave them out with --drop-unlabelled"),
    ("fit one.csv -t y", 1, "the target 'y' has 'a' in all 2 records"),
    ("fit head.csv -t y", 1, "no records"),
    ("fit t.csv -t name", 1, "the target 'name' holds 30 different values"),
    ("fit real.csv -t y", 1, "the target 'y' holds 3 different values, such as 0.5"),
    ("fit t.csv -t y --separator ;", 1, "give --separator ','"),
    ("fit t.csv -t y --separator ;;", 2, "--separator must be one character, or tab, got ';;'"),
    ("fit t.csv -t y --encoding klingon", 2, "--encoding must be an encoding"),
    ("fit t.csv -t y --kind x=colour", 2, "--kind must be column=type"),
    ("fit t.csv -t y --format xml", 2, "--format must be one of csv"),
    ("fit t.csv -t y --max-rules many", 2, "--max-rules must be a whole number, got 'many'"),
    ("fit t.csv -t y --max-overlap 7", 2, "--max-overlap must be a number at least 0 and at most 1"),
    ("fit t.csv -t y --class-weight heavy", 2, "--class-weight must be balanced, none, or label=weight"),
    ("fit t.csv -t y --class-weight c=2", 2, "--class-weight names the label 'c'"),
    ("fit t.csv -t y --default c", 2, "--default must be"),
    ("fit t.csv -t y --binning x=a,b", 2, "--binning must be"),
    ("fit t.csv -t y --conflict war", 2, "--conflict must be one of"),
    (
        "fit real.csv -t y",
        1,
        "are treated as a quantity, expected a few classes (--kind y=text makes each number a class)",
    ),
    ("fit half.csv -t y", 1, "the target 'y' holds 2 different values, such as 1.5; numbers with a fraction"),
    ("fit t.csv -t y --test-size 3", 2, "test-size"),
    ("fit t.csv -t y --test-size 1", 2, "--test-size must be a number from 0 to 0.9, got '1'"),
    ("fit t.csv -t y --test-size nan", 2, "--test-size must be a number from 0 to 0.9, got 'nan'"),
    ("fit t.csv -t y --test-size x", 2, "--test-size must be a number, got 'x'"),
    ("fit t.csv -t y --decimal ;", 2, "--decimal must be a point (.) or a comma (,), got ';'"),
    ("fit t.csv -t y --diversity strict", 2, "--diversity needs --as-in-paper"),
    ("fit t.csv -t y --no-second-pass", 2, "--second-pass needs --as-in-paper"),
    ("fit t.csv -t y --n-bins 1", 2, "--n-bins needs --as-in-paper"),
    ("fit t.csv -t y --as-in-paper --n-bins 1", 2, "--n-bins must be an integer at least 2 and at most 1000, got 1"),
    ("fit t.csv -t y --as-in-paper --measure quads", 2, "--measure must be one of pairs, triples, got 'quads'"),
    ("fit t.csv -t y --as-in-paper --diversity much", 2, "--diversity must be one of strict, permissive, none, or a"),
    ("fit t.csv -t y --as-in-paper --diversity -1", 2, "--diversity must be a number at least 0"),
    ("fit t.csv -t y --as-in-paper --min-recall-gain 2", 2, "--min-recall-gain must be a number at least 0 and at"),
    (
        "fit t.csv -t y --as-in-paper --n-candidates 0",
        2,
        "--n-candidates must be an integer at least 1 and at",
    ),
    ("fit t.csv -t y --as-in-paper --max-fallbacks 3", 2, "--max-fallbacks cannot be used with --as-in-paper"),
    ("fit t.csv -t y --as-in-paper --no-negation", 2, "--negation cannot be used with --as-in-paper"),
    ("fit t.csv -t y --max-fallbacks -1", 2, "--max-fallbacks must be an integer at least 0 and at most 10000, got -1"),
    ("fit t.csv -t y --max-backups 3", 2, "--max-backups"),
    ("fit t.csv -t y --no-refine", 2, "--no-refine"),
    ("fit missing.csv -t y --max-rules -1", 2, "--max-rules must be an integer at least 0 and at most 10000, got -1"),
    ("fit t.csv -t y -o nowhere/m.json", 1, "there is no folder"),
    ("fit t.csv -t y -o .", 1, "got a folder"),
    ("fit t.csv", 2, "--target"),
    ("fit", 2, "TABLE"),
    ("guess t.csv", 2, "guess"),
    ("show t.csv", 1, "not a rule set"),
    ("show missing.json", 1, "there is no such model file"),
    ("predict m.json t.csv", 1, "there is no column 'age'; its columns are 'x', 'name', 'y'"),
    ("predict m.json bad.csv", 1, "column 'age', record 2: expected a number, got 'abc'"),
    ("predict m.json good.csv -o p.doc", 2, "--output must end in one of .csv"),
    ("predict m.json good.csv --keep label", 2, "give --prefix"),
    ("predict m.json good.csv --keep id", 1, "there is no column 'id'"),
    ("evaluate m.json good.csv -t label", 1, "labels that are not classes of the rule set: 'maybe'"),
    ("explain m.json good.csv --label zzz", 2, "--label must be one of 'bad', 'good', got 'zzz'"),
    ("explain m.json good.csv --row x", 2, "--row must be a whole number, got 'x'"),
    ("explain m.json good.csv --row 0", 2, "--row must be from 1 to 2, the number of records, got 0"),
    ("report m.json good.csv -t label --n-samples x", 2, "--n-samples must be a whole number, got 'x'"),
    ("report m.json good.csv -t label --random-state -1", 2, "that is not negative, got '-1'"),
    ("export m.json --to java", 2, "--to must be one of"),
]
MODEL = """{"format": "diverse-rule-sets", "version": 1, "classes": ["bad", "good"], "class_totals": [5, 5],
 "class_weights": null, "smoothing": null, "conflict": "precision", "default": "bad", "uncovered_counts": [5, 1],
 "columns": [{"name": "age", "kind": "number"}],
 "rules": [{"if": [{"column": "age", "<=": 37}], "then": "good", "class_counts": [0, 4]}], "fallbacks": []}"""
FILES = {
    "t.csv": TABLE,
    "gaps.csv": "x,y\n1,a\n2,\n3,NA\n4,b\n",
    "one.csv": "x,y\n1,a\n2,a\n",
    "head.csv": "x,y\n",
    "real.csv": "x,y\n1,0.5\n2,1.5\n3,2\n",
    "half.csv": "x,y\n" + "1,2.0\n2,1.5\n" * 20,
    "bad.csv": "age\n37\nabc\n",
    "good.csv": "age,label\n37,maybe\n40,good\n",
    "m.json": MODEL,
}


@pytest.mark.parametrize(("line", "code", "words"), MISTAKES, ids=[line for line, *_ in MISTAKES])
def test_a_mistake_is_one_line(drs, tmp_path, monkeypatch, line, code, words):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    got, out, err = drs(*line.split())
    errors = [said for said in err.splitlines() if not said.startswith("drs: warning: ")]
    assert (got, out, len(errors)) == (code, "", 1), err
    assert errors[0].startswith("drs: error: ")
    assert words in errors[0]
    assert {path.name for path in tmp_path.iterdir()} == set(FILES)


def test_of_a_bad_seed_only_that_is_said(drs, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "1,a\n2,b\n" * 20)
    code, out, err = drs("fit", tmp_path / "t.csv", "-t", "y", "--random-state", "-3")
    said = "drs: error: --random-state must be a whole number that is not negative or none, got '-3'\n"
    assert (code, out, err) == (2, "", said)
    assert "Measured on" in drs("fit", tmp_path / "t.csv", "-t", "y", "--random-state", 10**12)[1]


OVERWRITTEN = [
    ("fit t.csv -t y -o t.csv", "t.csv", ""),
    ("fit t.csv -t y -o ./t.csv", "./t.csv", ", the same file as 't.csv'"),
    ("fit t.csv -t y -o link.csv", "link.csv", ", the same file as 't.csv'"),
    ("fit link.csv -t y -o hard.csv", "hard.csv", ", the same file as 'link.csv'"),
    ("predict m.json good.csv -o good.csv", "good.csv", ""),
    ("predict good.csv m.json --format csv -o good.csv", "good.csv", ""),
    ("report m.json good.csv -t label -o good.csv", "good.csv", ""),
    ("report m.json good.csv -t label -o m.json", "m.json", ""),
    ("export m.json --to json -o m.json", "m.json", ""),
    ("fit - -t y -o t.csv", "t.csv", ", the same file as the standard input"),
]


@pytest.mark.parametrize(("line", "output", "also"), OVERWRITTEN, ids=[line for line, *_ in OVERWRITTEN])
def test_what_is_read_is_not_written_over(drs, tmp_path, monkeypatch, line, output, also):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "link.csv").symlink_to("t.csv")
    (tmp_path / "hard.csv").hardlink_to("t.csv")
    with open("t.csv") as file:
        monkeypatch.setattr(sys, "stdin", file)
        code, out, err = drs(*line.split())
    said = f"drs: error: --output must be another file than those that are read, got {output!r}{also}\n"
    assert (code, out, err) == (2, "", said)
    assert all((tmp_path / name).read_text() == content for name, content in FILES.items())


def test_what_can_be_mended_is_said_how(drs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    _, _, err = drs("fit", "t.csv", "-t", "y")
    assert "column 'name' looks like an identifier (30 different values in 30 records); it is left out of the" in err
    assert "or name the column with --binning or --required\n" in err
    assert "column 'x' counts the records" in err
    code, out, _ = drs("fit", "gaps.csv", "-t", "y", "--drop-unlabelled", "--test-size", 0)
    assert code == 0
    assert "of 2 records" in out


def test_the_details_of_an_error_are_there_for_those_who_ask(drs, monkeypatch):
    assert "Traceback" not in drs("show", "missing.json")[2]
    monkeypatch.setenv("DRS_DEBUG", "1")
    assert "Traceback" in drs("show", "missing.json")[2]


CELLS = st.sampled_from(
    ["age", "37", "-1e400", "inf", "2020-01-01", '"', ",", "\n", "\r", "\t", " ", "\0", "é", "true", "[b]"]
)


@given(st.one_of(st.binary(max_size=60), st.lists(CELLS, max_size=25).map(lambda parts: "".join(parts).encode())))
@example(b"age\n\xf0\x28\x8c\x28")
@example(b"\x1f\x8b\x08\x00garbage")
@example(b"age\n" + b'"' + b"x" * 200_000)
def test_no_file_is_too_broken_for_one_line(content):
    """Any bytes are predicted, or refused in one line that is no surprise to the program itself."""
    with tempfile.TemporaryDirectory() as folder:
        model, table = Path(folder, "m.json"), Path(folder, "t.csv")
        model.write_text(MODEL)
        table.write_bytes(content)
        out, err = io.TextIOWrapper(io.BytesIO(), "utf8"), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(["predict", str(model), str(table)])
    errors = [line for line in err.getvalue().splitlines() if not line.startswith("drs: warning: ")]
    assert code == len(errors)
    assert all(line.startswith("drs: error: ") and "DRS_DEBUG" not in line for line in errors)
    assert all(line.isprintable() for line in errors)


@given(st.binary(max_size=200).map(lambda junk: MODEL.encode()[: len(junk) * 3] + junk))
def test_no_model_is_too_broken_for_one_line(content):
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "m.json")
        model.write_bytes(content)
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            assert main(["show", str(model)]) == 1
    assert err.getvalue().count("\n") == 1
    assert "DRS_DEBUG" not in err.getvalue()


def test_date_formats_and_given_rules_are_named(drs, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("day,y\n01.02.2024,a\n02.02.2024,b\n" * 20)
    for words, code, expected in (
        (["--date-format", "%Q"], 2, "--date-format must be a date format with year, month and day"),
        (["--date-format", "%H:%M"], 2, "--date-format must be a date format with year, month and day"),
        (["--date-format", "%Y/%m/%d", "--kind", "day=date"], 1, "expected a date in the format %Y/%m/%d, got"),
        (["--given-rules", "blah"], 2, "--given-rules[0] must be a rule as text: cannot read the rule 'blah'"),
        (["--forbidden", "height"], 2, "--forbidden names 'height', which the table does not have"),
    ):
        done, _, err = drs("fit", table, "-t", "y", *words)
        assert done == code
        assert expected in err
    assert drs("fit", table, "-t", "y", "--date-format", "%d.%m.%Y", "--test-size", 0)[0] == 0
