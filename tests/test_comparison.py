"""The comparison with other methods, and that of two versions, on small parts."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import compare
import comparison
from _tables import shipped


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """The wine data and the figures of the methods that need no further package, on one split."""
    table = shipped("wine")
    return table, comparison.measure(table, 1, 0)


def test_every_method_that_is_installed_is_measured(few):
    _, means = few
    asked = {name for name in comparison.methods() if name not in comparison.absent() and "risk" not in name}
    assert set(means.index) == asked
    assert (means["splits"] == 1).all()
    assert means["bacc"].between(0.5, 1).all()
    assert means.loc["tree, as many leaves", "statements"] <= means.loc["rules", "statements"]
    assert means.loc["rules", "overlap"] < means.loc["CN2", "overlap"]


def test_a_method_that_fails_is_named_and_the_others_are_measured(few, monkeypatch, capsys):
    def broken(split, own):
        raise RuntimeError("no reason")

    methods = {name: run for name, run in comparison.methods().items() if name in ("CBA", "CN2")}
    monkeypatch.setattr(comparison, "methods", lambda: {**methods, "IDS": broken})
    assert set(comparison.measure(few[0], 1, 0).index) == {"CBA", "CN2"}
    assert "wine, split 0: IDS failed: RuntimeError: no reason" in capsys.readouterr().out


def test_the_page_names_date_versions_and_what_is_better_than_the_rules(few):
    table, means = few
    means = means.copy()
    means["bacc"] = 0.5
    means.loc["CBA", "bacc"], means.loc["CN2", "splits"] = 0.75, 0
    page = comparison.page({"wine": (table, means)}, 1, 0)
    assert "More accurate in the mean than the rules of the default: CBA (+0.250)." in page
    assert "CN2 (0 of 1 splits)" in page
    assert "**wine**: 178 records, 13 columns, 3 classes" in page
    assert "scikit-learn " in page.splitlines()[0]
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert {line.count("|") for line in rows} == {3, 7}


def test_the_tables_are_those_of_the_documentation():
    tables = {table.name: table.shape["records"] for table in comparison.tables(None)}
    assert tables == {
        "iris": 150,
        "wine": 178,
        "breast_cancer": 569,
        "penguins": 344,
        "cardio": 2126,
        "contracept": 1473,
    }


def test_a_failing_benchmark_names_the_version(tmp_path):
    with pytest.raises(RuntimeError, match=r"(?s)fail with the package in .*is not in"):
        compare.timed_in(tmp_path, ["predict"])
