"""The command drs on large files and folders, which are read in batches: the same outputs as for small files."""

import gzip

import numpy as np
import polars as pl
import pytest

from diverse_rule_sets import DRSClassifier
from diverse_rule_sets.cli import _batches
from diverse_rule_sets.report import html
from diverse_rule_sets.sources import _arrow_files, _text_files
from tests.test_sources import FRAME, folder, write_parquet


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_parquet(FRAME, tmp_path / "t.parquet")
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    folder(tmp_path)
    return tmp_path


@pytest.fixture
def in_batches(monkeypatch):
    def set_small():
        monkeypatch.setattr(_batches, "LARGE", 0)
        monkeypatch.setattr(_text_files, "_BLOCK", 100)
        monkeypatch.setattr(_arrow_files, "batch_size", lambda n: 100)

    return set_small


FITS = ["", "--test-size 0", "--drop kids --missing-values clerk", "--max-rules 2 --kind kids=text"]


@pytest.mark.parametrize("options", FITS)
@pytest.mark.parametrize("table", ["t.parquet", "t.csv"])
def test_fit(drs, tables, in_batches, table, options):
    line = f"fit {table} -t y -o m.json --plain {options}".split()
    if table == "t.parquet" and "--kind" in options:
        line = line[:-2]
    code, out, err = drs(*line)
    assert code == 0, err
    expected = (tables / "m.json").read_text()
    in_batches()
    assert drs(*line)[:2] == (0, out)
    assert (tables / "m.json").read_text() == expected


def test_fit_of_a_folder(drs, tables):
    code, out, _ = drs(*["fit", "t.parquet", "-t", "y", "-o", "m.json", "--plain"])
    assert drs(*["fit", "parts", "-t", "y", "-o", "f.json", "--plain"])[:2] == (code, out)
    assert (tables / "m.json").read_text() == (tables / "f.json").read_text()


@pytest.mark.parametrize("options", ["", "--proba --keep all --prefix my_", "--keep kids --keep day"])
@pytest.mark.parametrize("output", ["o.parquet", "o.csv", "o.tsv.gz", "o.feather", "-"])
@pytest.mark.parametrize("table", ["t.parquet", "t.csv"])
def test_predict(drs, tables, in_batches, table, output, options):
    assert drs(*["fit", "t.parquet", "-t", "y", "-o", "m.json", "--test-size", "0"])[0] == 0
    line = f"predict m.json {table} -o {output} {options}".split()
    code, out, err = drs(*line)
    assert code == 0, err
    before = None if output == "-" else (tables / output).read_bytes()
    in_batches()
    code, again, err = drs(*line)
    assert (code, again) == (0, out), err
    if output == "o.parquet":
        expected, found = pl.read_parquet(before), pl.read_parquet(tables / output)
        wide = [name for name, kind in expected.schema.items() if kind.is_integer() and "rule" not in name]
        if table == "t.csv":  # a later batch of a text file might hold other numbers
            expected = expected.with_columns(pl.col(wide).cast(pl.Float64))
        assert found.equals(expected)
    elif output == "o.feather":
        assert pl.read_ipc(tables / output).height == len(FRAME)
    elif output == "o.tsv.gz":
        assert gzip.decompress((tables / output).read_bytes()) == gzip.decompress(before)
    elif output != "-":
        assert (tables / output).read_bytes() == before
    assert [file.name for file in tables.iterdir() if file.name.startswith(".")] == []


@pytest.mark.parametrize("table", ["t.parquet", "t.csv", "parts"])
def test_evaluate_and_report(drs, tables, in_batches, table):
    assert drs(*["fit", "t.parquet", "-t", "y", "-o", "m.json", "--test-size", "0"])[0] == 0
    expected = drs(*["evaluate", "m.json", "t.parquet", "--json"])
    assert drs(*["report", "m.json", "t.parquet", "-o", "r.html"])[0] == 0
    page = (tables / "r.html").read_text()
    in_batches()
    assert drs(*f"evaluate m.json {table} --json".split())[:2] == expected[:2]
    assert drs(*f"report m.json {table} -o r.html".split())[0] == 0
    assert (tables / "r.html").read_text() == page


def test_errors(drs, tables, in_batches):
    assert drs(*["fit", "t.parquet", "-t", "y", "-o", "m.json", "--test-size", "0"])[0] == 0
    in_batches()
    (tables / "o.parquet").write_bytes(b"before")
    content = (tables / "parts" / "03.parquet").read_bytes()
    (tables / "parts" / "03.parquet").write_bytes(content[: len(content) // 2])
    code, _, err = drs(*["predict", "m.json", "parts", "-o", "o.parquet"])
    assert code == 1
    assert "03.parquet: cannot be read as Parquet" in err
    assert (tables / "o.parquet").read_bytes() == b"before"
    for line, words in [
        ("fit t.csv -t Y", "t.csv: there is no column 'Y'"),
        ("evaluate m.json t.csv -t Y", "there is no column 'Y'"),
        ("fit t.csv -t y --drop y", "--drop names the target"),
        ("fit t.csv -t day", "the target 'day' holds"),
        ("fit t.csv -t late", "998 of 1,003 records have no value in the target 'late'"),
        ("fit t.csv -t y --separator ;", "there is no column 'y'"),
    ]:
        code, out, err = drs(*line.split())
        assert (code in (1, 2), out, err.count("\n")) == (True, "", 1), err
        assert words in err


@pytest.fixture
def weighted_tables(tables):
    """The same tables with two columns of weights, and with some records without a label."""
    rng = np.random.default_rng(1)
    frame = FRAME.assign(copies=rng.integers(0, 4, len(FRAME)), share=rng.lognormal(0, 1, len(FRAME)).round(3))
    frame.loc[rng.random(len(frame)) < 0.05, "y"] = None
    write_parquet(frame, tables / "t.parquet")
    frame.to_csv(tables / "t.csv", index=False)
    return frame


@pytest.mark.parametrize("table", ["t.parquet", "t.csv"])
@pytest.mark.parametrize("weight", ["copies", "share"])
def test_weights(drs, tables, weighted_tables, in_batches, table, weight):
    other = "share" if weight == "copies" else "copies"
    fit = f"fit {table} -t y --drop-unlabelled --drop {other} --weight {weight} -o m.json --plain".split()
    later = [f"evaluate m.json {table} --weight {weight} --drop-unlabelled --json".split()]
    later.append(f"report m.json {table} --weight {weight} --drop-unlabelled -o r.html".split())
    code, out, err = drs(*fit)
    assert code == 0, err
    model = (tables / "m.json").read_text()
    expected = [drs(*line) for line in later]
    assert [one[0] for one in expected] == [0, 0], expected
    page = (tables / "r.html").read_text()
    in_batches()
    assert drs(*fit)[:2] == (0, out)
    assert (tables / "m.json").read_text() == model
    assert [drs(*line)[:2] for line in later] == [one[:2] for one in expected]
    assert (tables / "r.html").read_text() == page
    unweighted = drs(*f"evaluate m.json {table} --drop-unlabelled --json".split())
    assert unweighted[1] != expected[0][1]


@pytest.mark.parametrize("command", ["fit {} -t y", "evaluate m.json {}", "report m.json {} -o page.html"])
@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("weigth", "{}: there is no column 'weigth'"),
        ("job", "{}: the column 'job' of --weight "),
        ("negative", "{}: the column 'negative' of --weight contains a negative number: record 3 has the weight -1"),
        ("late", "{}: the column 'late' of --weight contains a negative number: record 402 has the weight -1"),
        ("zero", "{}: the column 'zero' of --weight is zero for every record"),
        ("y", "--weight names the target, 'y'"),
    ],
)
@pytest.mark.parametrize("table", ["t.csv", "t.parquet"])
def test_bad_columns_of_weights_in_batches(drs, tables, in_batches, command, column, message, table):
    frame = FRAME.assign(negative=1, zero=0, late=1)
    frame.loc[2, "negative"] = frame.loc[401, "late"] = -1
    assert drs(*["fit", "t.csv", "-t", "y", "-o", "m.json", "--test-size", "0"])[0] == 0
    write_parquet(frame, tables / "t.parquet")
    frame.to_csv(tables / "t.csv", index=False)
    in_batches()
    code, out, err = drs(*command.format(table).split(), "--weight", column)
    assert (code in (1, 2), out, err.count("\n")) == (True, "", 1), err
    assert message.format(table) in err
    assert not (tables / "page.html").exists()


def test_weights_of_a_source_are_the_name_of_a_column(tables):
    clf = DRSClassifier().fit("t.parquet", "y")
    with pytest.raises(
        TypeError, match=r"sample_weight must be the name of the column .* because X is read in batches"
    ):
        html(clf, "t.parquet", "y", sample_weight=[1] * len(FRAME))
