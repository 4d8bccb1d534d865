"""Tables from files: the same values whatever the format, and one line about what is wrong with a file."""

import datetime
import gzip
import io
import math
import sys

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diverse_rule_sets.cli._errors import InputError, UsageError
from diverse_rule_sets.cli._reading import load
from diverse_rule_sets.sources._cells import Cells, as_labels

CSV = """id,zip,age,flag,since,at
a,01234,37,true,2020-01-31,2020-01-31T12:00:00Z
b,99999,NA,FALSE,,2020-01-31 13:00+01:00
"""
NOON = datetime.datetime(2020, 1, 31, 12, tzinfo=datetime.UTC)
VALUES = {
    "id": ["a", "b"],
    "zip": ["01234", "99999"],
    "age": [37, None],
    "flag": [True, False],
    "since": [datetime.datetime(2020, 1, 31), None],
    "at": [NOON, NOON],
}


def written(tmp_path, content, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def values(table):
    return {name: table.read(name).to_list() for name in table.frame.columns}


@pytest.mark.parametrize(
    ("name", "content", "reading"),
    [
        ("t.csv", CSV.encode(), {}),
        ("t.csv", b"\xef\xbb\xbf" + CSV.encode(), {}),
        ("t.csv", CSV.replace("\n", "\r\n").encode(), {}),
        ("t.csv", CSV.replace("\n", "\n\n").encode(), {}),
        ("t.CSV.GZ", gzip.compress(CSV.encode(), mtime=0), {}),
        ("t.csv", gzip.compress(CSV.encode(), mtime=0), {}),
        ("t.tsv", CSV.replace(",", "\t").encode(), {}),
        ("t.txt", CSV.replace(",", ";").encode(), {"format": "csv", "separator": ";"}),
        ("t.csv", CSV.encode("utf-16"), {"encoding": "utf-16"}),
    ],
)
def test_text_files(tmp_path, name, content, reading):
    assert values(load(written(tmp_path, content, name), reading)) == VALUES


@pytest.mark.parametrize("name", ["t.parquet", "t.PQ", "t.arrow", "t.feather", "t.ipc", "t.arrows"])
def test_typed_files_keep_their_types(tmp_path, name):
    frame = pl.DataFrame(VALUES)
    ending = name.lower().rpartition(".")[2]
    write = {"parquet": frame.write_parquet, "pq": frame.write_parquet, "arrows": frame.write_ipc_stream}
    write.get(ending, frame.write_ipc)(tmp_path / name)
    assert values(load(str(tmp_path / name), {})) == VALUES


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_a_pipe(tmp_path, monkeypatch, form):
    buffer = io.BytesIO(CSV.encode())
    if form != "csv":
        buffer = io.BytesIO()
        {"parquet": pl.DataFrame.write_parquet, "arrow": pl.DataFrame.write_ipc_stream}[form](
            pl.DataFrame(VALUES), buffer
        )
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(buffer.getvalue()))))
    assert values(load("-", {} if form == "csv" else {"format": form})) == VALUES


def test_kinds_told_of_typed_columns(tmp_path):
    pl.DataFrame({"zip": [1234, 5], "age": ["37", None], "x": [1, 2]}).write_parquet(tmp_path / "t.parquet")
    told = load(str(tmp_path / "t.parquet"), {"kind": {"zip": "text", "age": "number"}})
    assert values(told) == {"zip": ["1234", "5"], "age": [37, None], "x": [1, 2]}


EUROPE = """x;n;code;price;y
1,5;7;01;1.234,5;a
-,25;+8;02;2,5;b
3;NA;03;3,5;a
2,5e3;-9;04;4,5;b
"""


def test_decimal_commas(tmp_path):
    """With a decimal comma a point makes no number: it could part thousands."""
    path = written(tmp_path, EUROPE)
    assert values(load(path, {"separator": ";", "decimal": ","})) == {
        "x": [1.5, -0.25, 3, 2500],
        "n": [7, 8, None, -9],
        "code": ["01", "02", "03", "04"],
        "price": ["1.234,5", "2,5", "3,5", "4,5"],
        "y": ["a", "b", "a", "b"],
    }
    assert load(path, {"separator": ";", "decimal": "."}).read("x").to_list() == ["1,5", "-,25", "3", "2,5e3"]
    told = load(path, {"separator": ";", "decimal": ",", "kind": {"price": "number"}})
    with pytest.raises(InputError, match=r"record 1: expected a number such as 1,5, got '1\.234,5'$"):
        told.read("price")
    read = Cells(decimal=",").read(pl.Series("c", ["1,5", "x", "7", "2.5"]), "category", (1.5, 7))
    assert read.to_list() == [1.5, "x", 7, "2.5"]


def test_decimal_commas_between_commas_are_quoted_or_refused(tmp_path):
    path = written(tmp_path, 'x,y\n"1,5",2\n"2,5","3,25"\n')
    assert values(load(path, {"decimal": ","})) == {"x": [1.5, 2.5], "y": [2, 3.25]}
    path = written(tmp_path, "x,y\n1,5,2\n2,5,3,25\n")
    with pytest.raises(InputError, match=r"line 2: 3 cells, expected 2 .*, numbers with --decimal , need quotes"):
        load(path, {"decimal": ","})


@pytest.mark.parametrize(
    ("column", "found"),
    [
        (["19753,49", "3", "", "NA", "-2,5"], "19753,49"),
        (["1,5"] * 19 + ["unknown"], "1,5"),
        (["1,5"] * 18 + ["unknown"] * 2, None),
        (["1,234", "12,345"], None),  # thousands, as likely as not
        (["1,234", "12,34"], "12,34"),
        (["1.5", "2"], None),
        (["1,2,3", "4,5,6"], None),
        (["", None], None),
    ],
)
def test_numbers_with_a_decimal_comma_are_noticed(column, found):
    assert Cells().find_decimal_comma(pl.Series("c", column)) == found
    assert Cells(decimal=",").find_decimal_comma(pl.Series("c", column)) is None


def test_latin_1_and_only_some_columns(tmp_path):
    path = written(tmp_path, "größe,b\nä,1\n".encode("latin-1"))
    table = load(path, {"encoding": "latin-1"}, {"größe"})
    assert values(table) == {"größe": ["ä"]}


def test_what_the_user_tells_goes_first(tmp_path):
    path = written(tmp_path, "code,day,x\n7,31.12.2020,?\n8,01.02.2021,5\n9,,\n")
    told = load(path, {"kind": {"code": "text"}, "date_format": "%d.%m.%Y", "missing": ("?",)})
    days = [datetime.datetime(2020, 12, 31), datetime.datetime(2021, 2, 1)]
    assert values(told) == {"code": ["7", "8", "9"], "day": [*days, None], "x": [None, 5, None]}
    assert values(load(path, {})) == {
        "code": [7, 8, 9],
        "day": ["31.12.2020", "01.02.2021", None],
        "x": ["?", "5", None],
    }


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "the table is empty"),
        ("a,b\n1,2\n3\n", "line 3: 1 cell, expected 2 as in the first line"),
        ("a,b\n1,2,3\n", "line 2: 3 cells, expected 2"),
        ('a,b\n1,"2\n', "quote left open"),
        ("a,a\n1,2\n", "two columns are called 'a'"),
        (b"a,b\n\xff,2\n", "is not utf-8 text .*--encoding"),
        (b"PAR1\x15\x04", "is not a text file; give --format"),
        (gzip.compress(CSV.encode(), mtime=0)[:40], "cut off or damaged"),
    ],
)
def test_broken_text_files(tmp_path, content, words):
    with pytest.raises(InputError, match=words):
        load(written(tmp_path, content), {})


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
@pytest.mark.parametrize("content", [b"", b"PAR1", b"ARROW1xx", CSV.encode()])
def test_broken_typed_files(tmp_path, name, content):
    with pytest.raises(InputError, match="cannot be read as"):
        load(written(tmp_path, content, name), {})


def test_what_cannot_be_told_is_asked_for(tmp_path):
    with pytest.raises(UsageError, match="is unknown; give --format"):
        load(written(tmp_path, CSV, "t.dat"), {})
    with pytest.raises(InputError, match="got a folder"):
        load(str(tmp_path), {"format": "csv"})
    with pytest.raises(UsageError, match="--kind names 'nope'"):
        load(written(tmp_path, CSV), {"kind": {"nope": "text"}})
    table = load(written(tmp_path, CSV.replace(",", ";")), {})
    with pytest.raises(InputError, match="if ';' separates the cells, give --separator ';'"):
        table.column("age")


def test_a_column_without_a_name_gets_one(tmp_path, capsys):
    table = load(written(tmp_path, ",b\n1,2\n"), {})
    assert table.frame.columns == ["column_1", "b"]
    assert capsys.readouterr().err.startswith("drs: warning: ")


@pytest.mark.parametrize(
    ("kind", "cell", "words"),
    [
        ("number", "abc", "column 'c', record 3: expected a number, got 'abc'"),
        ("number", "1,5", "expected a number, got '1,5'"),
        ("number", "1,5", r"\(is it a decimal comma\? give --decimal ,\)"),
        ("boolean", "yes", "expected true or false"),
        ("date", "31.12.2020", "expected a date such as"),
        ("date", "2020-01-01T00:00Z", "expected a date such as"),
        ("date", "2020-02-30", "expected a date such as"),
        ("date (UTC)", "2020-01-01", "with a time zone"),
    ],
)
def test_a_cell_of_another_kind_is_named(kind, cell, words):
    good = {"number": "1e3", "boolean": "1", "date": "2020-01-01 10:00", "date (UTC)": "2020-01-01T10:00+02:00"}[kind]
    with pytest.raises(InputError, match=words):
        Cells().read(pl.Series("c", [good, "", cell]), kind)


def test_columns_of_several_kinds_take_the_values_that_rules_name():
    read = Cells().read(pl.Series("c", ["1", "x", "", "7", "True"]), "category", (1, True))
    assert read.to_list() == [1, "x", None, 7.0, True]


def test_labels_are_those_of_the_model():
    assert as_labels(pl.Series(["1", "2.5", None]), (1, 2)) == [1, "2.5", None]
    assert as_labels(pl.Series([1.0, 2.0]), (1, 2)) == [1, 2]
    assert as_labels(pl.Series([1, 2]), ("1", "2")) == ["1", "2"]
    assert as_labels(pl.Series(["TRUE", "false"]), (False, True)) == [True, False]


numbers = st.lists(st.one_of(st.none(), st.floats(allow_nan=False)), min_size=1)
wholes = st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=1)
booleans = st.lists(st.sampled_from([None, True, False]), min_size=1)
moments = st.lists(
    st.one_of(st.none(), st.datetimes(datetime.datetime(1000, 1, 1), datetime.datetime(9999, 12, 31))), min_size=1
)


@given(st.one_of(numbers, wholes, booleans, moments))
def test_what_polars_writes_is_read_back(column):
    """The oracle is the column itself, before it was written."""
    written = pl.DataFrame({"c": pl.Series(column, strict=True), "end": "."}).write_csv(datetime_format="%FT%T%.6f")
    cells = pl.Series("c", [line.split(",")[0] for line in written.splitlines()[1:]])
    if all(value is None for value in column):
        assert Cells().read(cells, Cells().guess_kind(cells)).null_count() == len(column)
        return
    assert Cells().read(cells, Cells().guess_kind(cells)).to_list() == column


@given(numbers)
def test_what_polars_writes_with_decimal_commas_is_read_back(column):
    frame = pl.DataFrame({"c": pl.Series(column, dtype=pl.Float64), "end": "."})
    lines = frame.write_csv(separator=";", decimal_comma=True).splitlines()[1:]
    cells = pl.Series("c", [line.split(";")[0] for line in lines])
    assert Cells(decimal=",").read(cells, "number").to_list() == column


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1))
def test_cells_read_as_text_are_as_they_were_or_missing(column):
    read = Cells().read(pl.Series("c", column), "text").to_list()
    pairs = zip(read, column, strict=True)
    assert all(got == cell or (got is None and cell.strip() in ("", *Cells().missing)) for got, cell in pairs)


@given(st.lists(st.text("0123456789+-.eE naif", max_size=6), min_size=1, max_size=4))
def test_a_column_of_numbers_is_one_that_python_reads_as_numbers(column):
    present = [cell.strip() for cell in column if cell.strip() not in ("", *Cells().missing)]
    try:
        floats = [float(cell) for cell in present]
    except ValueError:
        floats = []
    guessed = Cells().guess_kind(pl.Series("c", column, pl.String))
    if guessed == "number":
        got = Cells().read(pl.Series("c", column, pl.String), "number").drop_nulls().to_list()
        assert all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(got, floats, strict=True))
    elif floats:  # a code that starts with a zero, and nothing else, is kept as text
        assert any(cell.lstrip("+-")[:2].isdigit() and cell.lstrip("+-")[0] == "0" for cell in present if len(cell) > 1)


def test_labels_are_first_of_all_themselves():
    from diverse_rule_sets.sources._cells import as_labels

    assert as_labels(pl.Series(["True", "true", "x", None]), ["True", "true", "x"]) == ["True", "true", "x", None]
    assert as_labels(pl.Series(["TRUE", "1.5"]), [False, True]) == [True, "1.5"]
    assert as_labels(pl.Series([1.0, 2.0]), [1, 2]) == [1, 2]
    assert as_labels(pl.Series(["1", "2"]), [1, 2]) == [1, 2]
    assert as_labels(pl.Series([1, 2]), ["1", "2"]) == ["1", "2"]


def test_digits_of_other_scripts_are_text(drs, tmp_path):
    (tmp_path / "t.csv").write_text("n,y\n" + "٢,a\n١٣,b\n" * 20, "utf8")
    assert drs("fit", tmp_path / "t.csv", "-t", "y", "--test-size", 0)[0] == 0


@pytest.mark.parametrize("kind", ["text", "category"])
def test_a_word_that_rules_name_is_a_value_and_not_missing(tmp_path, kind):
    table = load(written(tmp_path, "veneer,x\nNone,1\nNA,2\nbrick,3\n,4\n"), {})
    assert table.read("veneer", kind).to_list() == [None, None, "brick", None]
    assert table.read("veneer", kind, ("None",)).to_list() == ["None", None, "brick", None]
