"""What a user must be able to rely on: no record is lost, no cell is misread, no file fills the memory."""

import contextlib
import dataclasses
import datetime
import difflib
import gzip
import io
import json
import math
import os
import pty
import re
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diverse_rule_sets import DiverseRuleSetClassifier, Equals, Interval, IsIn, Progress, Rule, RuleSet
from diverse_rule_sets._input.checks import did_you_mean
from diverse_rule_sets.cli import _files
from diverse_rule_sets.cli._errors import InputError
from diverse_rule_sets.cli._progress import show_progress
from diverse_rule_sets.cli._reading import load
from diverse_rule_sets.sources import _text_files
from diverse_rule_sets.sources._cells import Cells

COMMAND = f"{sys.executable} -m diverse_rule_sets.cli "
MODEL = RuleSet((Rule.parse("IF age <= 37 THEN good"),), ("bad", "good"), "bad", (5, 5), (5, 1)).to_json()


@pytest.fixture
def files(tmp_path):
    (tmp_path / "m.json").write_text(MODEL)
    (tmp_path / "t.csv").write_text("age,y\n" + "20,good\n50,bad\n" * 20)
    return tmp_path


def shell(line, folder):
    line = line.replace("drs ", COMMAND)
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False)


def cells_of(tmp_path, content, **reading):
    (tmp_path / "t.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    frame = load(str(tmp_path / "t.csv"), reading).frame
    return frame.rows()


# Empty lines


@pytest.mark.parametrize(
    ("content", "ages"),
    [
        ("age\n20\n\n50\n", ["20", "", "50"]),
        ("age\r\n20\r\n\r\n50\r\n", ["20", "", "50"]),
        ("age\r20\r\r50\r", ["20", "", "50"]),
        ("age\n20\n\n50", ["20", "", "50"]),
        ("age\n20\n", ["20"]),
        ("age\n20", ["20"]),
        ("age\n20\n\n", ["20", ""]),
        ("age\n\n\n", ["", ""]),
        ("age\n", []),
        ("age", []),
        ("\n\nage\n20\n", ["20"]),
        ('age\n""\n"2\n\n0"\n\n', ["", "2\n\n0", ""]),
        ('"age"\n20\n  \n', ["20", "  "]),
        ("\ufeffage\n20\n\n", ["20", ""]),
        ('\ufeff"age"\n20\n\n', ["20", ""]),
    ],
)
def test_an_empty_line_of_a_table_with_one_column_is_a_record(tmp_path, capsys, content, ages):
    assert cells_of(tmp_path, content) == [(age,) for age in ages]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-32-be"])
def test_a_byte_order_mark_is_not_part_of_the_first_name(tmp_path, encoding):
    content = ("" if encoding == "utf-16" else "\ufeff") + '"age"\n20\n\n'
    (tmp_path / "t.csv").write_bytes(content.encode(encoding))
    table = load(str(tmp_path / "t.csv"), {"encoding": encoding})
    assert (table.names, table.frame.rows()) == (["age"], [("20",), ("",)])


def test_each_record_of_one_column_gets_its_answer(drs, files):
    (files / "ages.csv").write_text("age\n20\n\n50\n")
    assert drs("predict", files / "m.json", files / "ages.csv") == (0, "label,rule\ngood,1\nbad,\nbad,\n", "")
    _, out, _ = drs("explain", files / "m.json", files / "ages.csv")
    assert [line for line in out.splitlines() if line.startswith("record")] == ["record 1", "record 2", "record 3"]


def test_an_empty_line_of_one_column_of_labels_is_a_missing_label(drs, files):
    """A model without rules reads no column: its table may have labels only."""
    (files / "none.json").write_text(RuleSet((), ("bad", "good"), "bad", (5, 5), (5, 5)).to_json())
    (files / "y.csv").write_text("y\nbad\n\ngood\n")
    code, _, err = drs("evaluate", files / "none.json", files / "y.csv", "-t", "y")
    assert (code, "1 of 3 records have no value in the target 'y'" in err) == (1, True)


@given(st.lists(st.one_of(st.none(), st.text(st.characters(codec="utf-8"))), max_size=6))
def test_what_polars_writes_of_one_column_has_as_many_records(tmp_path_factory, column):
    path = tmp_path_factory.mktemp("one") / "t.csv"
    pl.DataFrame({"c": pl.Series(column, dtype=pl.String)}).write_csv(path)
    assert load(str(path), {}).frame["c"].to_list() == [cell or "" for cell in column]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b\n1,2\n\n3,4\n", "1 empty line is not read as records; the first is line 3"),
        ("a,b\n\n1,2\n\n\n3,4\n\n", "3 empty lines are not read as records; the first is line 2"),
        ('a,b\n1,"2\n\n0"\n3,4\n\n\n', ""),
        ("\na,b\n1,2\n3,4", ""),
    ],
)
def test_an_empty_line_between_records_of_several_columns_is_reported(tmp_path, capsys, content, said):
    assert len(cells_of(tmp_path, content)) == 2
    assert capsys.readouterr().err == (f"drs: warning: {tmp_path / 't.csv'}: {said}\n" if said else "")


def test_the_place_of_an_error_is_where_the_record_starts(tmp_path):
    with pytest.raises(InputError, match=r"t\.csv, line 3: 1 cell, expected 2"):
        cells_of(tmp_path, 'a,b\n1,2\n3\n4,"\n')
    with pytest.raises(InputError, match=r"t\.csv, lines 2 to 4: 1 cell, expected 2"):
        cells_of(tmp_path, 'a,b\n"1\n2\n3"\n')
    with pytest.raises(InputError, match=r"t\.csv, lines 3 to 5: unexpected end of data \(is a quote left open\?\)"):
        cells_of(tmp_path, 'a,b\n1,2\n3,"\n4,5\n6,7\n')


# Numbers

NUMBER = re.compile(r"[-+]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE)
NOT_NUMBERS = """
+-5 ++60 -+5 --5 5- 5+ +_5 1_000 1__0 0x1F 0b1 0o7 1e 1e+ e5 1e5.0 1e1e1 . + - +. -. .e5 1.2.3 1..2 1,2 1,000
٣ ٣.٥ 1٣ １ ² ½ Ⅷ 1j 1f 1d 1L 5% $5 1/2 1'000 −5 ∞ in infin nano NaN5 +nan- ++inf 0x1p3 1\u200b 1|2
"""


def expected_number(cell, decimal="."):
    """Return the number of a cell; None if it is not a number. The regular expression and ``float`` are the oracle."""
    stripped = cell.strip()
    if decimal == ",":
        stripped = "not a number" if "." in stripped else stripped.replace(",", ".")
    return float(stripped) if NUMBER.fullmatch(stripped) else None


def assert_read_as(cell, decimal):
    settings, column = Cells((), decimal=decimal), pl.Series("c", [cell, "1"])
    value = expected_number(cell, decimal)
    if value is None:
        assert settings.guess_kind(column) == "text" or not cell.strip()
        if cell.strip():
            with pytest.raises(InputError, match="column 'c', record 1: expected a number"):
                settings.read(column, "number")
            assert settings.read(column, "category").to_list() == [cell.strip(), 1.0]
        return
    assert settings.guess_kind(column) == "number" or re.match("[-+]?0[0-9]", cell.strip())
    for kind in ("number", "category of numbers", "category"):
        got = settings.read(column, kind).to_list()
        assert got[1] == 1
        assert got[0] == value or (math.isnan(got[0]) and math.isnan(value))


@pytest.mark.parametrize("cell", [*NOT_NUMBERS.split(), "+ 5", "- 5", "1 000", "1\u00a0000", "1 e5", "5 +", "1\n2"])
def test_a_cell_that_is_not_a_number_is_text(cell):
    assert expected_number(cell) is None
    assert_read_as(cell, ".")


@pytest.mark.parametrize(
    "cell", ["5", "+5", "-5", " 5 ", "5.", ".5", "+.5", "1e5", "1E-5", "-inf", "007", "1e400", "1" * 30]
)
def test_a_cell_that_is_a_number(cell):
    assert expected_number(cell) is not None
    assert_read_as(cell, ".")


@given(st.text("05+-.,eE_ ٣xinfa", max_size=7), st.sampled_from([".", ","]))
def test_the_definition_of_a_number(cell, decimal):
    assert_read_as(cell, decimal)


def test_categories_of_a_model_are_read_as_numbers_and_dates(drs, tmp_path):
    """Rules of a classifier that was fitted to a data frame may compare numbers and dates by equality alone."""
    numbers, days = [1, 2, 30] * 10, [datetime.datetime(2020, 1, day) for day in (1, 2, 3)] * 10
    frame = pd.DataFrame({"n": pd.Categorical(numbers), "d": pd.Categorical(days)})
    y = pd.Series(["ab"[n == 2] for n in numbers], name="y")
    for column in ("n", "d"):
        clf = DiverseRuleSetClassifier(random_state=0).fit(frame[[column]], y)
        assert clf.rule_set_.kind(column).startswith("category of ")
        (tmp_path / "m.json").write_text(clf.rule_set_.to_json())
        frame.assign(y=y, n=[f"+{n}.0" for n in numbers]).to_csv(tmp_path / "t.csv", index=False)
        facts = json.loads(drs("evaluate", tmp_path / "m.json", tmp_path / "t.csv", "--json")[1])
        assert facts["accuracy"] == 1


def test_two_signs_are_an_error_of_a_table_to_predict(drs, files):
    (files / "ages.csv").write_text("age\n20\n+-5\n")
    code, out, err = drs("predict", files / "m.json", files / "ages.csv")
    assert (code, out) == (1, "")
    assert err == "drs: error: column 'age', record 2: expected a number, got '+-5'\n"


@pytest.mark.parametrize(
    "words", ["--max-rules 1_0", "--max-rules ٣", "--max-overlap 0_1", "--binning age=1_0,20", "--class-weight bad=1_0"]
)
def test_numbers_of_options_are_strict_too(drs, files, words):
    code, _, err = drs("fit", files / "t.csv", "-t", "y", *words.split())
    assert (code, f"{words.split()[0]} must be " in err) == (2, True)


# Dates


@pytest.mark.parametrize(
    "cell", ["2020-13-45", "2020-02-30", "0000-01-01", "10000-01-01", "294300-01-01", "-0001-01-01", "٢٠٢٠-٠١-٣١"]
)
def test_a_cell_that_is_not_a_date_is_text(cell):
    column = pl.Series("c", [cell, "2020-01-31"])
    assert Cells().guess_kind(column) == "text"
    with pytest.raises(InputError, match=f"column 'c', record 1: expected a date such as .*, got '{cell}'"):
        Cells().read(column, "date")


def test_the_first_and_the_last_date(drs, tmp_path):
    """The years 1 to 9999 are read as they are, by the rules too."""
    days = ["0001-01-01", "1677-09-21", "2262-04-12", "9999-12-31"]
    column = Cells().read(pl.Series("c", days), "date")
    assert column.to_list() == [datetime.datetime.fromisoformat(day) for day in days]
    rows = [(day, "early" if day < "1900" else "late") for day in days for _ in range(10)]
    (tmp_path / "t.csv").write_text("day,y\n" + "".join(f"{day},{y}\n" for day, y in rows))
    fit = ("fit", tmp_path / "t.csv", "-t", "y", "--test-size", 0, "-o", tmp_path / "m.json")
    assert drs(*fit)[::2] == (0, "")
    _, out, _ = drs("predict", tmp_path / "m.json", tmp_path / "t.csv")
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == [y for _, y in rows]


BEYOND = ["0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00"]


@pytest.mark.parametrize("cell", BEYOND)
def test_a_date_that_utc_cannot_represent_is_named(drs, tmp_path, cell):
    rows = "".join(f"{2000 + k}-01-01T00:00:00+05:00,{'ab'[k > 20]}\n" for k in range(40))
    (tmp_path / "t.csv").write_text(f"at,y\n{rows}{cell},a\n")
    said = "expected a date with a time zone such as 2024-12-31T12:00Z, got"
    line = f"drs: error: column 'at', record 41: {said} '{cell}' (in UTC it is outside the years 1 to 9999)\n"
    assert drs("fit", tmp_path / "t.csv", "-t", "y") == (1, "", line)
    assert drs("fit", tmp_path / "t.csv", "-t", "y", "--kind", "at=text", "--test-size", 0)[0] == 0
    good, model = tmp_path / "good.csv", tmp_path / "m.json"
    good.write_text(f"at,y\n{rows}")
    assert drs("fit", good, "-t", "y", "-o", model, "--test-size", 0)[::2] == (0, "")
    assert drs("predict", model, tmp_path / "t.csv") == (1, "", line)


def test_a_date_that_utc_can_represent_only_just():
    column = pl.Series("c", ["0001-01-01T05:00:00+05:00", "9999-12-31T18:59:59-05:00"])
    first, last = Cells().read(column, Cells().guess_kind(column)).to_list()
    assert first == datetime.datetime(1, 1, 1, tzinfo=datetime.UTC)
    assert last == datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC)


def test_digits_of_other_scripts_are_no_date_in_any_format():
    assert Cells(date_format="%d.%m.%Y").parse_date("31.12.2020") == datetime.datetime(2020, 12, 31)
    assert Cells(date_format="%d.%m.%Y").parse_date("٣١.١٢.٢٠٢٠") is None


# Closed streams and encodings


@pytest.mark.parametrize(
    "line",
    [
        "drs show m.json",
        "drs show m.json --plain",
        "drs predict m.json t.csv",
        "drs evaluate m.json t.csv -t y",
        "drs evaluate m.json t.csv -t y --json",
        "drs explain m.json t.csv",
        "drs export m.json --to python",
        "drs report m.json t.csv -t y -o -",
        "drs fit t.csv -t y --test-size 0",
        "drs --help",
        "drs fit --help",
        "drs --version",
        "drs",
    ],
)
def test_a_closed_output_is_one_line(files, line):
    done = shell(f"{line} >&-", files)
    said = [text for text in done.stderr.splitlines() if not text.startswith("drs: warning: ")]
    assert (done.returncode, said) == (1, ["drs: error: cannot write the standard output: it is closed"])


def test_a_closed_output_does_not_matter_if_nothing_is_written_to_it(files):
    done = shell("drs predict m.json t.csv -o p.csv >&-", files)
    assert (done.returncode, done.stderr) == (0, "")
    assert (files / "p.csv").read_text().startswith("label,rule\ngood,1\n")
    done = shell("drs fit t.csv -t y --test-size 0 -o out.json >&-", files)
    assert RuleSet.from_json((files / "out.json").read_text()).classes == ("bad", "good")
    assert done.returncode == 1


def test_messages_may_be_closed(files):
    """The exit code is the same, and nothing is written to a file that has got the number of the closed stream."""
    done = shell("drs predict m.json t.csv 2>&-", files)
    assert (done.returncode, done.stdout.count("\n")) == (0, 41)
    done = shell("drs fit t.csv -t y --test-size 0 -o out.json -v 2>&-", files)
    assert (done.returncode, "OTHERWISE" in done.stdout) == (0, True)
    assert RuleSet.from_json((files / "out.json").read_text()).classes == ("bad", "good")
    for line, code in (("show none.json", 1), ("shew", 2), ("predict m.json t.csv >&-", 1)):
        done = shell(f"drs {line} 2>&-", files)
        assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


@pytest.mark.parametrize("line", ["predict m.json -", "predict - t.csv", "fit - -t y", "show -", "fit - -t y -o t.csv"])
def test_a_closed_input_is_one_line(files, line):
    done = shell(f"drs {line} <&-", files)
    said = "drs: error: the standard input is closed; expected a table or a model from a pipe\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


def test_all_streams_may_be_closed(files):
    assert shell("drs predict m.json t.csv -o p.csv <&- >&- 2>&-", files).returncode == 0
    assert (files / "p.csv").read_text().count("\n") == 41


@pytest.mark.parametrize("name", ["hex", "rot13", "base64", "zlib", "bz2", "uu", "idna", "punycode", "undefined"])
def test_an_encoding_that_is_none_of_text_files_is_refused(drs, files, name):
    said = f"drs: error: --encoding must be an encoding such as utf-8, latin-1, cp1252 or utf-16, got {name!r}\n"
    assert drs("fit", files / "t.csv", "-t", "y", "--encoding", name) == (2, "", said)


@pytest.mark.parametrize("name", ["utf-8", "UTF8", "utf_8_sig", "latin-1", "cp1252", "utf-16", "utf-32-le", "cp500"])
def test_encodings_of_text_files(tmp_path, name):
    from diverse_rule_sets.cli._reading_options import read_encoding

    assert read_encoding(name) == name
    (tmp_path / "t.csv").write_bytes("a,b\n1,2\n".encode(name))
    assert load(str(tmp_path / "t.csv"), {"encoding": name}).frame.rows() == [("1", "2")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_an_error_names_the_encoding_that_was_given(drs, files, encoding):
    code, out, said = drs("fit", files / "t.csv", "-t", "y", "--encoding", encoding)
    assert (code, out) == (1, "")
    assert f"t.csv: is not {encoding} text (" in said


def test_another_encoding_is_suggested(tmp_path):
    with pytest.raises(InputError, match=r"is not utf-8 text .* give --encoding, such as utf-16$"):
        cells_of(tmp_path, "größe,b\n1,2\n".encode("utf-16"))
    with pytest.raises(InputError, match=r"is not utf-8 text .* give --encoding, such as latin-1$"):
        cells_of(tmp_path, "größe,b\n1,2\n".encode("latin-1"))


# Files that would fill the memory


class Endless(io.RawIOBase):
    """A file without end: a start, and then a pattern again and again; counts the bytes that are read."""

    def __init__(self, start, pattern):
        self.start, self.pattern, self.n = start, pattern * (2**14 // len(pattern)), 0

    def readable(self):
        return True

    def readinto(self, buffer):
        content, self.start = (self.start or self.pattern)[: len(buffer)], b""
        buffer[: len(content)] = content
        self.n += len(content)
        return len(content)


@pytest.mark.parametrize(
    ("start", "pattern", "place"),
    [
        (b"", b"a", "line 1"),
        (b"", b",", "line 1"),
        (b"", b"\0", "line 1"),
        (b"x,y\n1,2\n", b"a", "line 3"),
        (b'x,y\n1,2\n"', b"a\n", "lines 3 to "),
        (b"x,y\n1,2\n", b'"\n",', "lines 3 to "),
        (b"x,y\n1,2\n", "é".encode(), "line 3"),
    ],
)
def test_a_line_without_end_is_refused(monkeypatch, start, pattern, place):
    monkeypatch.setattr(_text_files, "MAX_RECORD", 100_000)
    file = Endless(start, pattern)
    with pytest.raises(
        InputError, match=f"^t.csv, {place}.*more than 100,000 characters.*expected a line for each record"
    ):
        _text_files.read_cells(io.BufferedReader(file), "t.csv", _text_files.TextFormat(), None)
    assert file.n < 400_000


def test_records_of_any_length_below_the_bound_are_read(tmp_path, monkeypatch):
    """A cell may be longer than the csv module allows by itself, and many records may be longer than the bound."""
    monkeypatch.setattr(_text_files, "MAX_RECORD", 200_010)
    rows = [("x" * 200_000, "1"), ("a\n" * 99_000, "2"), ("", "3")] * 2
    content = "a,b\n" + "".join(f'"{a}",{b}\n' for a, b in rows)
    assert cells_of(tmp_path, content) == rows
    with pytest.raises(InputError, match="more than 200,010 characters"):
        cells_of(tmp_path, content.replace("x", "xx"))


def test_too_many_columns_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_text_files, "MAX_COLUMNS", 3)
    assert cells_of(tmp_path, "a,b,c\n1,2,3\n") == [("1", "2", "3")]
    with pytest.raises(InputError, match="line 1: expected at most 3 column names, got 5"):
        cells_of(tmp_path, "a,b,c,d,e\n")


def test_wide_tables_are_read_in_small_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(_text_files, "_BLOCK_CELLS", 7)
    rows = [(str(k), str(k * k), "x") for k in range(20)]
    assert cells_of(tmp_path, "a,b,c\n" + "".join(",".join(row) + "\n" for row in rows)) == rows


def test_many_columns_without_a_name_are_a_few_lines(tmp_path, capsys):
    assert len(cells_of(tmp_path, "," * 99 + "\n" + "," * 99 + "\n")[0]) == 100
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 4
    assert said[-1].endswith("so have 97 more columns")


def test_a_compressed_file_of_one_long_line_is_refused(drs, files, monkeypatch):
    monkeypatch.setattr(_text_files, "MAX_RECORD", 1_000_000)
    (files / "long.csv.gz").write_bytes(gzip.compress(b"a" * 3_000_000, mtime=0))
    code, out, err = drs("fit", files / "long.csv.gz", "-t", "y")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "long.csv.gz, line 1: the record has more than 1,000,000 characters" in err


@pytest.mark.parametrize("ending", ["csv.gz", "parquet", "tsv"])
def test_a_compressed_file_that_grows_beyond_measure_is_refused(files, monkeypatch, ending):
    monkeypatch.setattr(_text_files, "MAX_UNPACKED", 2**20)
    path = files / f"t.{ending}"
    path.write_bytes(gzip.compress(b"age\n" + b"20\n" * 2**20, mtime=0))
    with pytest.raises(InputError, match=r"more than 1 MB are compressed to less than \d+ kB.*decompress it first"):
        load(str(path), {})


def test_a_compressed_table_is_read_whatever_its_size(files, monkeypatch):
    """Above the bound a file is refused only if it is compressed as no table is."""
    monkeypatch.setattr(_text_files, "MAX_UNPACKED", 2**16)
    rows = "".join(f"{k * 7919 % 100_003},b\n" for k in range(20_000))
    (files / "t.csv.gz").write_bytes(gzip.compress(f"age,y\n{rows}".encode(), mtime=0))
    assert load(str(files / "t.csv.gz"), {}).frame.height == 20_000


def test_a_table_that_does_not_fit_into_the_memory_is_refused_before_it_is_full(files, monkeypatch):
    assert 10**7 < _text_files.memory() < 10**16
    monkeypatch.setattr(_text_files, "_BLOCK", 5)
    monkeypatch.setattr(_text_files, "memory", lambda: 1000)
    with pytest.raises(InputError, match=r"t\.csv: the table does not fit into the memory: 15 records need 0\.0 GB"):
        load(str(files / "t.csv"), {})


@pytest.mark.parametrize("line", ["show m.json", "show -", "predict m.json t.csv"])
def test_a_model_file_without_end_is_refused(drs, files, monkeypatch, line):
    monkeypatch.setattr(_files, "MAX_MODEL", 10**6)
    (files / "m.json").write_text(" " * 2 * 10**6)
    monkeypatch.chdir(files)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Endless(b"", b" "))))
    code, out, err = drs(*line.split())
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "is larger than 1 MB; expected a model file" in err


# Wrong names


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("Income", ["age", "income"], "'income'"),
        (" in come", ["age", "income"], "'income'"),
        ("IN-COME", ["age", "in_come"], "'in_come'"),
        ("incmoe", ["age", "income", "outcome"], "'income'"),
        ("educaton", ["educated", "education"], "'education'"),
        ("1", [0, 1], "1"),
        (1, ["0", "1"], "'1'"),
        ("X" * 1000, ["x" * 1000], repr("x" * 1000)),
        ("height", ["age", "income"], None),
        ("height", ["_", " "], None),
        ("", ["age"], None),
        ("age", [], None),
        ("ab" * 1000, ["ba" * 1000], None),
    ],
)
def test_a_similar_name_is_suggested(name, known, meant):
    assert did_you_mean(name, known) == (f"; did you mean {meant}?" if meant else "")


def test_a_name_is_suggested_also_among_very_many():
    names = [f"gene_{k:06d}" for k in range(200_000)]
    assert did_you_mean("gene_012_x345", names) == "; did you mean 'gene_012345'?"
    assert did_you_mean("GENE_199999", names) == "; did you mean 'gene_199999'?"


@given(st.text(max_size=8), st.lists(st.text(max_size=8), max_size=8))
def test_the_suggestion_is_the_best_of_difflib(name, known):
    """The oracle compares the name with each of the others in full."""
    folded = {}
    for other in known:
        folded.setdefault("".join(c for c in other.casefold() if not c.isspace() and c not in "_-"), other)
    wanted = "".join(c for c in name.casefold() if not c.isspace() and c not in "_-")
    shares = {text: difflib.SequenceMatcher(None, text, wanted).ratio() for text in folded}
    best = max(shares.values(), default=0)
    expected = {f"; did you mean {folded[text]!r}?" for text in folded if shares[text] == best}
    assert did_you_mean(name, known) in (expected if best >= 0.6 else {""})


COLUMNS = "its columns are 'age', 'sex', 'income'"
NOT_THERE = "which the table does not have as a column"


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("fit t.csv -t Income", 1, f"t.csv: there is no column 'Income'; {COLUMNS}"),
        ("fit t.csv -t income --drop Sex", 1, f"t.csv: there is no column 'Sex'; {COLUMNS}"),
        ("fit t.csv -t income --kind Age=text", 2, f"--kind names 'Age', but {COLUMNS}"),
        ("fit t.csv -t income --forbidden Sex", 2, f"--forbidden names 'Sex', {NOT_THERE}"),
        ("fit t.csv -t income --required agge", 2, f"--required names 'agge', {NOT_THERE}"),
        ("fit t.csv -t income --monotone aeg=increasing", 2, f"--monotone names 'aeg', {NOT_THERE}"),
        ("fit t.csv -t income --monotone Age:yes=increasing", 2, f"--monotone names 'Age', {NOT_THERE}"),
        ("fit t.csv -t income --binning AGE=20,30", 2, f"--binning names 'AGE', {NOT_THERE}"),
        ("predict m.json upper.csv", 1, "upper.csv: there is no column 'age'; its columns are 'Age', 'Sex'"),
        ("predict m.json t.csv --keep Sex", 1, f"there is no column 'Sex'; {COLUMNS}"),
        ("evaluate m.json t.csv -t incom", 1, f"there is no column 'incom'; {COLUMNS}"),
        ("report m.json t.csv -t incom", 1, f"there is no column 'incom'; {COLUMNS}"),
        ("explain m.json t.csv --label Good", 2, "--label must be one of 'bad', 'good', got 'Good'"),
    ],
)
def test_a_wrong_name_is_corrected(drs, files, monkeypatch, line, code, said):
    monkeypatch.chdir(files)
    (files / "t.csv").write_text("age,sex,income\n" + "20,F,yes\n50,M,no\n" * 20)
    (files / "upper.csv").write_text("Age,Sex\n20,F\n")
    got, out, err = drs(*line.split())
    assert (got, out, err.count("\n")) == (code, "", 1)
    assert err.startswith("drs: error: ")
    assert said in err
    assert re.search(r"; did you mean '\w+'\?$", err)


def test_a_column_that_rules_cannot_use_is_not_an_unknown_one(drs, files):
    fit = ("fit", files / "t.csv", "-t", "y")
    assert drs(*fit, "--forbidden", "y") == (2, "", "drs: error: --forbidden names 'y', the target\n")
    (files / "t.csv").write_text("age,id,y\n" + "20,1,good\n50,2,bad\n" * 20)
    said = "drs: error: --required names 'id', which --drop leaves out\n"
    assert drs(*fit, "--drop", "id", "--required", "id") == (2, "", said)


# Numbers with a few exceptions


def nearly_numbers(n=200, others=("n.a.", "-", "n.a.")):
    cells = [*others, *(str(k * 7919 % 1009) for k in range(n - len(others)))]
    return [(cell, f"z{k % 5}", "ab"[k % 2]) for k, cell in enumerate(cells)]


def test_a_column_of_numbers_with_a_few_others_is_no_id(drs, tmp_path):
    table, model = tmp_path / "t.csv", tmp_path / "m.json"
    rows = nearly_numbers()
    rows[10] = (rows[10][0], "NULL", rows[10][2])  # the usual words stay
    table.write_text("x,c,y\n" + "".join(",".join(row) + "\n" for row in rows))
    fit = ("fit", table, "-t", "y", "--test-size", 0)
    code, _, err = drs(*fit)
    assert code == 0
    advice = "--missing-values x=n.a. --missing-values x=-"
    assert err == (
        "drs: warning: column 'x' is text, but nearly all its values are numbers; the others are 'n.a.', '-'; "
        f"to read it as numbers, without them, give {advice}\n"
    )
    code, _, err = drs(*fit, *advice.split(), "-o", model)
    assert (code, err) == (0, "")
    read = dataclasses.replace(load(str(table), {}), codes={"x": ["n.a.", "-"]})
    assert read.read("x").null_count() == 3
    assert read.read("c").null_count() == 1
    rule_set = RuleSet.from_json(model.read_text())
    assert rule_set.missing_values == (("x", ("n.a.", "-")),)
    assert drs("predict", model, table)[0] == 0  # the model has the codes
    assert "is text, but nearly all" not in drs(*fit, "--kind", "x=text")[2]


def test_the_advice_helps_for_typed_files_too(drs, tmp_path):
    frame = pl.DataFrame(nearly_numbers(), ["x", "c", "y"], orient="row")
    frame.write_parquet(tmp_path / "t.parquet")
    fit = ("fit", tmp_path / "t.parquet", "-t", "y", "--test-size", 0)
    pattern = "give (--kind x=number --missing-values x=n.a. --missing-values x=-)$"
    advice = re.search(pattern, drs(*fit)[2], re.MULTILINE)[1]
    assert drs(*fit, *advice.split())[::2] == (0, "")


@pytest.mark.parametrize(
    ("column", "exceptions"),
    [
        (["1"] * 99 + ["a b"], ["a b"]),
        (["1"] * 95 + ["b", "a", "c", "c", "d"], ["c", "a", "b", "d"]),
        (["1"] * 94 + ["a"] * 6, []),
        (["1"] * 100, []),
        (["1"] * 98 + ["01", "a"], []),  # codes
        (["NA"] * 98 + ["1", "a"], []),
        ([], []),
    ],
)
def test_exceptions_among_numbers(column, exceptions):
    assert Cells().find_exceptions(pl.Series("c", column, pl.String)) == exceptions


def test_many_exceptions_are_not_all_listed(drs, tmp_path):
    rows = nearly_numbers(200, ("a", "b", "c", "d", "e f"))
    (tmp_path / "t.csv").write_text("x,c,y\n" + "".join(",".join(row) + "\n" for row in rows))
    _, _, err = drs("fit", tmp_path / "t.csv", "-t", "y", "--test-size", 0)
    assert "the others are 'a', 'b', 'c' and 2 more; to read" in err
    assert err.endswith("give --missing-values x=a --missing-values x=b --missing-values x=c, and so on\n")


def test_one_warning_about_a_column_is_enough(drs, tmp_path):
    """The library warns about both columns; about numbers it names no option."""
    rows = "".join(f"n{k},{k * 7919 % 1009 if k else '?'},{'ab'[k % 2]}\n" for k in range(400))
    (tmp_path / "t.csv").write_text(f"id,x,y\n{rows}")
    _, _, err = drs("fit", tmp_path / "t.csv", "-t", "y", "--test-size", 0)
    first, second = err.splitlines()
    assert first.startswith(
        "drs: warning: column 'x' is text, but nearly all its values are numbers; the others are '?'"
    )
    assert second.startswith("drs: warning: column 'id' looks like an identifier (400 different values in 400 records)")
    assert second.endswith("or name the column with --binning or --required")


# Mistakes of a new user


def spreadsheet(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("xl/workbook.xml", "<workbook/>")


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("fit t.xlsx -t y", 1, "t.xlsx: expected a CSV, TSV, Parquet or Arrow file; save the table as CSV first"),
        ("fit t.xlsx -t y --format csv", 1, "t.xlsx: is a zip file or a file of a spreadsheet program; save the table"),
        ("fit t.csv.zip -t y", 1, "t.csv.zip: expected a CSV, TSV, Parquet or Arrow file; decompress it first"),
        ("fit space.csv -t y", 1, "its only column is 'x y': if ' ' separates the cells, give --separator space"),
        (
            "fit title.csv -t y",
            1,
            "line 2: 2 cells, expected 1 as in the first line (is --separator right, and are the",
        ),
        ("fit one.csv -t y", 1, "the target 'y' has 'a' in its only record; expected two classes or more"),
        ("fit t.csv -t y --class-weight Good=2", 2, "--class-weight names the label 'Good', which the target does not"),
        ("predict t.csv m.json", 1, "(a model file is given before a table)"),
        (
            "evaluate m.json other.csv -t y",
            1,
            "other.csv: the target 'y' has labels that are not classes of the rule set",
        ),
        ("evaluate m.json other.csv -t y", 1, ": 'maybe'; its classes are 'bad', 'good'"),
        (
            "report m.json other.csv -t y",
            1,
            "other.csv: the target 'y' has labels that are not classes of the rule set",
        ),
    ],
)
def test_a_mistake_and_how_to_correct_it(drs, files, monkeypatch, line, code, said):
    monkeypatch.chdir(files)
    spreadsheet("t.xlsx")
    (files / "space.csv").write_text("x y\n1 a\n2 b\n")
    (files / "title.csv").write_text("My table\nx,y\n1,a\n")
    (files / "one.csv").write_text("x,y\n1,a\n")
    (files / "other.csv").write_text("age,y\n1,maybe\n2,good\n")
    got, out, err = drs(*line.split())
    assert (got, out, err.count("\n")) == (code, "", 1)
    assert said in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fit", "t.csv", "-t", "y", "-o", ""], "--output must be the name of a file, got ''"),
        (["fit", "", "-t", "y"], "expected the name of a file to read, got ''"),
        (["show", ""], "expected the name of a file to read, got ''"),
        (["predict", "m.json", ""], "expected the name of a file to read, got ''"),
        (["export", "", "--to", "sql"], "expected the name of a file to read, got ''"),
    ],
)
def test_an_empty_name_is_no_folder(drs, files, monkeypatch, arguments, said):
    monkeypatch.chdir(files)
    assert drs(*arguments) == (2, "", f"drs: error: {said}\n")


def test_a_very_long_name_makes_no_very_long_line(drs, files):
    code, _, err = drs("fit", files / "t.csv", "-t", "x" * 100_000)
    assert (code, err.count("\n"), len(err) < 5000) == (1, 1, True)
    assert err.endswith("; its columns are 'age', 'y'\n")


# Terminals

HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e\r\x08"


def seen_on_a_terminal(arguments, folder):
    """Run a command whose streams are a terminal; return its exit code and everything that the terminal gets."""
    leader, follower = pty.openpty()
    variables = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), follower)
    with subprocess.Popen([*COMMAND.split(), *arguments], cwd=folder, env=variables, **streams) as process:
        os.close(follower)
        pieces = []
        with contextlib.suppress(OSError):  # how Linux says that the other side is closed
            while piece := os.read(leader, 65536):
                pieces.append(piece)
        os.close(leader)
    return process.returncode, b"".join(pieces).decode()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A folder with a model and a table in which every name, value and label has control sequences of a terminal."""
    folder = tmp_path_factory.mktemp("hostile")
    name, number, one, other = (f"{word}{HOSTILE}" for word in ("name", "number", "one", "other"))
    counts = ((one, 1), (other, 3))
    rules = (
        Rule((Equals(name, f"v{HOSTILE}"), Interval(number, high=3)), other, counts),
        Rule((IsIn(name, (f"p{HOSTILE}", f"q{HOSTILE}")),), one, ((one, 4), (other, 0))),
    )
    fallbacks = (Rule((Interval(number, high=5),), other, counts),)
    model = RuleSet(rules, (one, other), one, (6, 7), (2, 4), fallbacks=fallbacks)
    (folder / "m.json").write_text(model.to_json())
    words = [f"{letter}{HOSTILE}" for letter in "vpz"]
    frame = pl.DataFrame({name: words * 10, number: [k % 7 for k in range(30)], f"y{HOSTILE}": [one, other] * 15})
    frame.write_csv(folder / "t.csv")
    return folder


@pytest.mark.parametrize(
    "line",
    [
        "show m.json",
        "show m.json --plain",
        "predict m.json t.csv",
        "predict m.json t.csv --keep all --proba",
        "evaluate m.json t.csv -t y!",
        "evaluate m.json t.csv -t y! --json",
        "explain m.json t.csv --row 1 --row 2 --row 3",
        "explain m.json t.csv --label no!",
        "export m.json --to sql",
        "export m.json --to python",
        "export m.json --to json",
        "fit t.csv -t y! --test-size 0",
        "fit t.csv -t no!",
        "fit no!.csv -t y",
        "--no!",
        "--debug show no!.json",
    ],
)
def test_nothing_in_a_file_controls_the_terminal(hostile, line):
    arguments = [word.replace("!", HOSTILE) for word in line.split()]
    code, seen = seen_on_a_terminal(arguments, hostile)
    assert code == (1 if "no!" in line else 0) or code == 2
    bare = re.sub(r"\x1b\[([0-9;]*m|\?25[lh]|2K|1A)", "", seen)  # colours and the progress bar
    assert {c for c in bare if not c.isprintable()} <= set("\r\n\t")
    if "fit" not in line:  # the progress bar goes back to the start of the line
        assert not re.search("\r(?!\n)", bare)
    assert "]0;title" in seen or "evaluate" in line


STAGES = [
    (Progress("conditions", detail="1,234 possible conditions"), "conditions: 1,234 possible conditions"),
    (Progress("scorecards", detail="6 signs"), "scorecards: 6 signs"),
    *((Progress(stage, 7, 0.5), f"{stage}, 7 rules") for stage in ("first pass", "second pass", "splitting", "growth")),
]


@pytest.mark.parametrize(("progress", "text"), STAGES, ids=[progress.stage for progress, _ in STAGES])
def test_a_fit_on_a_terminal_shows_its_stage(monkeypatch, progress, text):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "120")
    with show_progress("Fitting t.csv", 0) as options:
        options.on_progress(progress)
    assert "Fitting t.csv" in screen.getvalue()
    assert text in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.getvalue())


def test_the_bar_of_a_fit_names_a_stage(tmp_path):
    rng = np.random.default_rng(0)
    X = pl.DataFrame({f"x{j}": rng.random(3000) for j in range(6)})
    X.with_columns(y=((X["x0"] + X["x1"] + X["x2"]) > 1.5).cast(pl.Utf8)).write_csv(tmp_path / "t.csv")
    code, seen = seen_on_a_terminal(["fit", "t.csv", "-t", "y"], tmp_path)
    assert code == 0
    bare = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen)
    assert re.search("(conditions: |scorecards: |first pass, |second pass, |splitting, |growth, )", bare)


def test_a_pipe_gets_the_text_unchanged(hostile):
    done = subprocess.run(
        [*COMMAND.split(), "predict", "m.json", "t.csv"], cwd=hostile, capture_output=True, check=True
    )
    assert HOSTILE.encode() in done.stdout


# The target of a model


@pytest.fixture
def with_target(files, monkeypatch):
    """Return a function that makes every model file that is read one of a given target."""
    read = RuleSet.from_json
    monkeypatch.chdir(files)

    def use(target):
        monkeypatch.setattr(RuleSet, "from_json", lambda content: dataclasses.replace(read(content), target=target))

    return use


@pytest.mark.parametrize("method", [[], ["--as-in-paper", "--n-candidates", "20"]])
def test_a_fitted_model_knows_its_target(drs, files, method):
    model = files / "new.json"
    assert drs("fit", files / "t.csv", "-t", "y", "-o", model, *method)[0] == 0
    assert RuleSet.from_json(model.read_text()).target == "y"
    assert "Measured on 40 records" in drs("evaluate", model, files / "t.csv")[1]
    assert drs("report", model, files / "t.csv", "-o", files / "r.html") == (0, "", "")


def test_the_target_of_the_model_is_the_default(drs, files, with_target):
    with_target("y")
    assert drs("evaluate", "m.json", "t.csv") == drs("evaluate", "m.json", "t.csv", "-t", "y")
    assert drs("report", "m.json", "t.csv", "-o", "a.html") == (0, "", "")
    assert drs("report", "m.json", "t.csv", "-o", "b.html", "-t", "y") == (0, "", "")
    assert (files / "a.html").read_text("utf8") == (files / "b.html").read_text("utf8")


def test_a_given_target_goes_before_that_of_the_model(drs, files, with_target):
    with_target("y")
    (files / "t.csv").write_text("age,y,z\n20,good,bad\n50,bad,bad\n")
    facts = json.loads(drs("evaluate", "m.json", "t.csv", "-t", "z", "--json")[1])
    assert facts["class_totals"] == [2, 0]
    assert json.loads(drs("evaluate", "m.json", "t.csv", "--json")[1])["class_totals"] == [1, 1]
    code, _, err = drs("evaluate", "m.json", "t.csv", "-t", "zz")
    assert (code, "there is no column 'zz'; its columns are 'age', 'y', 'z'" in err) == (1, True)


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_without_a_target_one_line_says_so(drs, files, with_target, command):
    with_target(None)
    said = "drs: error: --target is missing, and the model does not name the column that had the labels in training\n"
    assert drs(command, "m.json", "t.csv") == (2, "", said)
    with_target("Y")
    said = (
        "drs: error: t.csv: there is no column 'Y', the target in training; give --target, the column with the labels"
    )
    assert drs(command, "m.json", "t.csv") == (1, "", f"{said}; did you mean 'y'?\n")


def test_the_target_of_the_model_may_have_gaps(drs, files, with_target):
    with_target("y")
    (files / "t.csv").write_text("age,y\n20,good\n50,\n")
    assert "1 of 2 records have no value in the target 'y'" in drs("evaluate", "m.json", "t.csv")[2]
    assert "Measured on 1 records" in drs("evaluate", "m.json", "t.csv", "--drop-unlabelled")[1]
