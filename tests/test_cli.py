"""The command line: every command against what the same calls in Python say, and one line for every mistake."""

import dataclasses
import datetime
import functools
import gzip
import inspect
import io
import json
import math
import re
import sys

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix, log_loss
from sklearn.model_selection import train_test_split
from typer.testing import CliRunner

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, Rule, RuleSet, metrics
from diverse_rule_sets.cli._app import app
from diverse_rule_sets.cli._errors import UsageError
from diverse_rule_sets.cli._options import PAPER_PARAMETERS, PARAMETERS, directions
from diverse_rule_sets.cli._reading_options import MISSING_VALUES
from diverse_rule_sets.estimators._base import BINNINGS
from diverse_rule_sets.estimators._search_classifier import DEFAULTS
from diverse_rule_sets.learn._selection import LAMBDA_MODES
from diverse_rule_sets.learn.samplers import MEASURES
from diverse_rule_sets.model._decision import CONFLICTS
from tests.conftest import make_mixed

QUICK = ("--max-rules", "6", "--min-evidence", "0")
COMMANDS = ("fit", "show", "predict", "evaluate", "explain", "report", "export")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with one table in every format, and a model that was fitted in Python."""
    path = tmp_path_factory.mktemp("cli")
    table, y = make_mixed(300)
    frame = pl.DataFrame({**table, "y": y.tolist()})
    frame.write_csv(path / "t.csv", datetime_format="%F %T")
    frame.write_csv(path / "t.tsv", separator="\t", datetime_format="%F %T")
    frame.write_parquet(path / "t.parquet")
    frame.write_ipc(path / "t.arrow")
    (path / "model.json").write_text(fitted(frame).rule_set_.to_json(), "utf8")
    return path


def fitted(frame):
    clf = DiverseRuleSetClassifier(max_rules=6, min_evidence=0, random_state=0)
    return clf.fit(frame.drop("y"), frame["y"])


@pytest.fixture
def frame(folder):
    return pl.read_parquet(folder / "t.parquet")


def rules_in(path):
    return RuleSet.from_json(path.read_text("utf8"))


def defaults_of(kind):
    parameters = inspect.signature(kind).parameters
    return {name: p.default for name, p in parameters.items() if name != "verbose"}  # a flag of its own


def test_the_options_are_the_parameters_of_the_classifier():
    defaults = defaults_of(DiverseRuleSetClassifier)
    options = (*PARAMETERS, MISSING_VALUES)
    assert {option.name: option.default for option in options} == defaults | {"random_state": 0}


def test_the_further_options_are_the_parameters_of_the_paper_alone():
    paper, names = defaults_of(DRSClassifier), defaults_of(DiverseRuleSetClassifier)
    alone = {name: default for name, default in paper.items() if name not in names}
    assert {option.name: option.default for option in PAPER_PARAMETERS} == alone
    assert len(alone) == 6


WORDS = {
    "binning": BINNINGS,
    "conflict": CONFLICTS,
    "measure": MEASURES,
    "diversity": LAMBDA_MODES,
    "default": DEFAULTS,
}


@pytest.mark.parametrize("name", WORDS)
def test_the_words_of_an_option_are_those_that_the_classifier_takes(name):
    option = next(option for option in (*PARAMETERS, *PAPER_PARAMETERS) if option.name == name)
    for word in WORDS[option.name]:
        assert option.value([word] if option.many else word) == word
        assert word in option.help
    if option.name != "default":  # which may be any label
        with pytest.raises(UsageError, match=f"{option.flag} must be one of"):
            option.value(["nonsense"] if option.many else "nonsense")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--max-conditions none", {"max_conditions": None}),
        ("--max-conditions 3", {"max_conditions": 3}),
        ("--max-statements 5", {"max_statements": 5}),
        ("--max-statements none", {"max_statements": None}),
        ("--class-weight none", {"class_weight": None}),
        ("--class-weight good=2 --class-weight a=b=1", {"class_weight": {"good": 2.0, "a=b": 1.0}}),
        ("--binning quantile", {"binning": "quantile"}),
        ("--binning age=25,60.5 --binning since=uniform", {"binning": {"age": [25, 60.5], "since": "uniform"}}),
        ("--max-overlap 0.2", {"max_overlap": 0.2}),
        ("--max-overlap agree=0.3,contradict=0.01", {"max_overlap": {"agree": 0.3, "contradict": 0.01}}),
        ("--max-overlap agree=1", {"max_overlap": {"agree": 1.0}}),
        ("--negation", {"negation": True}),
        ("--no-negation", {"negation": False}),
        ("--max-fallbacks 3 --min-evidence 0", {"max_fallbacks": 3, "min_evidence": 0.0}),
        ("--smoothing none --random-state none", {"smoothing": None, "random_state": None}),
        ("--n-jobs -1 --default good", {"n_jobs": -1, "default": "good"}),
    ],
)
def test_options_become_parameters(drs, folder, monkeypatch, words, expected):
    given = spied(DiverseRuleSetClassifier, monkeypatch)
    drs("fit", folder / "t.csv", "-t", "y", "--test-size", 0, *words.split())
    assert given == {"random_state": 0, "verbose": 0} | expected


def test_statements_are_limited(drs, folder, frame, tmp_path):
    model = tmp_path / "model.json"
    code, _, messages = drs(
        "fit", folder / "t.parquet", "-t", "y", "--test-size", 0, "--max-statements", 3, "-o", model
    )
    assert code == 0, messages
    rule_set = RuleSet.from_json(model.read_text("utf8"))
    assert metrics.size(rule_set).statements <= 3
    clf = DiverseRuleSetClassifier(max_statements=3, random_state=0).fit(frame.drop("y"), frame["y"])
    assert rule_set.same_rules(clf.rule_set_)
    code, _, messages = drs("fit", folder / "t.parquet", "-t", "y", "--max-statements", "0")
    assert code == 2
    assert "max_statements must be an integer at least 1" in messages.replace("--max-statements", "max_statements")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", {}),
        ("--max-conditions none --max-rules 3", {"max_conditions": None, "max_rules": 3}),
        ("--diversity 0.5", {"diversity": 0.5}),
        ("--diversity none", {"diversity": "none"}),
        ("--no-second-pass --measure triples", {"second_pass": False, "measure": "triples"}),
        ("--second-pass --min-recall-gain 0.1", {"second_pass": True, "min_recall_gain": 0.1}),
        ("--n-candidates 20 --n-bins 3 --binning quantile", {"n_candidates": 20, "n_bins": 3, "binning": "quantile"}),
        ("--random-state none --default good", {"random_state": None, "default": "good"}),
    ],
)
def test_options_become_parameters_of_the_paper(drs, folder, monkeypatch, words, expected):
    given = spied(DRSClassifier, monkeypatch)
    drs("fit", folder / "t.csv", "-t", "y", "--test-size", 0, "--as-in-paper", *words.split())
    assert given == {"random_state": 0, "verbose": 0} | expected


def spied(kind, monkeypatch):
    """Keep the parameters of the last classifier that is made."""
    given = {}
    original = kind.__init__

    @functools.wraps(original)
    def spy(self, **parameters):
        given.update(parameters)
        original(self)

    monkeypatch.setattr(kind, "__init__", spy)
    return given


def test_the_method_of_the_paper_gives_the_rules_that_python_gives(drs, folder, frame, tmp_path):
    words = ("--as-in-paper", "--n-candidates", 40, "--max-rules", 8, "--measure", "triples", "--no-second-pass")
    code, _, err = drs("fit", folder / "t.csv", "-t", "y", "-o", tmp_path / "m.json", "--test-size", 0, *words)
    assert (code, err) == (0, "")
    clf = DRSClassifier(n_candidates=40, max_rules=8, measure="triples", second_pass=False, random_state=0)
    rules = clf.fit(frame.drop("y"), frame["y"]).rule_set_
    assert (tmp_path / "m.json").read_text("utf8") == rules.to_json()


@pytest.mark.parametrize("option", PAPER_PARAMETERS, ids=lambda option: option.name)
def test_an_option_of_the_paper_needs_its_method(drs, option):
    """Said before the table is read, whatever the value, and the help says it too."""
    for flag in [option.flag] if option.read else [option.flag, option.flag.replace("--", "--no-")]:
        line = ("fit", "missing.csv", "-t", "y", flag, *([] if option.read is None else [option.default]))
        assert drs(*line) == (2, "", f"drs: error: {option.flag} needs --as-in-paper\n")
        code, _, err = drs(*line, "--as-in-paper")
        assert (code, "missing.csv" in err) == (1, True)
    assert "--as-in-paper" in option.panel


@pytest.mark.parametrize("option", PARAMETERS, ids=lambda option: option.name)
def test_an_option_that_the_paper_does_not_have_is_refused(drs, option):
    words = {"class_weight": "none", "given_rules": "IF x > 1 THEN a", "monotone": "x=increasing", "binning": "uniform"}
    value = [] if option.read is None else [words.get(option.name, option.default or "1")]
    code, out, err = drs("fit", "missing.csv", "-t", "y", "--as-in-paper", option.flag, *value)
    if option.name in inspect.signature(DRSClassifier).parameters:
        assert (code, "missing.csv" in err) == (1, True)
    else:
        assert (code, out, err) == (2, "", f"drs: error: {option.flag} cannot be used with --as-in-paper\n")


def test_directions_are_read():
    read = directions(["age=increasing", "x:good=decreasing", "a:b:c=increasing", "x:bad=increasing"])
    assert read == {
        "age": "increasing",
        "x": {"good": "decreasing", "bad": "increasing"},
        "a:b": {"c": "increasing"},
    }
    with pytest.raises(ValueError, match="column=increasing"):
        directions(["age=up"])
    for words in (["age=increasing", "age:good=increasing"], ["age:good=increasing", "age=increasing"]):
        with pytest.raises(ValueError, match="for the column 'age' one direction"):
            directions(words)


def test_a_column_may_have_a_colon_in_its_name():
    from diverse_rule_sets.cli._fitting import directions_by_column

    ways = directions(["time:start=increasing", "age:good=decreasing", "x=increasing"])
    assert directions_by_column(ways, ["time:start", "age", "x"]) == {
        "time:start": "increasing",
        "age": {"good": "decreasing"},
        "x": "increasing",
    }


def test_what_is_known_already_is_kept(drs, folder, tmp_path):
    model = tmp_path / "m.json"
    known = ("--given-rules", "IF age > 80 THEN good", "--forbidden", "sex", "--monotone", "age:good=increasing")
    code, _, err = drs("fit", folder / "t.csv", "-t", "y", "--test-size", 0, "-o", model, *known)
    assert (code, err) == (0, "")
    rules = rules_in(model)
    assert str(rules[0]) == "IF age > 80 THEN good"
    assert "sex" not in rules.columns
    bounds = [c for r in rules.rules + rules.fallbacks if r.label == "good" for c in r.conditions if c.column == "age"]
    assert bounds
    assert all(getattr(condition, "high", None) is None for condition in bounds)
    code, _, err = drs("fit", folder / "t.csv", "-t", "y", "--required", "height")
    assert code == 2
    assert err.startswith("drs: error: --required names 'height'")


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet", "t.arrow"])
def test_the_same_table_in_any_format_gives_the_rules_that_python_gives(drs, folder, frame, tmp_path, name):
    code, _, err = drs("fit", folder / name, "-t", "y", "-o", tmp_path / "m.json", "--test-size", 0, *QUICK)
    assert (code, err) == (0, "")
    assert (tmp_path / "m.json").read_text("utf8") == fitted(frame).rule_set_.to_json()


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet", "t.arrow"])
def test_predictions_are_those_of_python(drs, folder, frame, tmp_path, name):
    clf = fitted(frame)
    out = tmp_path / "p.parquet"
    arguments = ("--proba", "--keep", "y", "--keep", "sex", "-o", out)
    assert drs("predict", folder / "model.json", folder / name, *arguments) == (0, "", "")
    got = pl.read_parquet(out)
    assert got.columns == ["y", "sex", "label", "rule", "probability_bad", "probability_good"]
    assert got["label"].to_list() == clf.predict(frame).tolist()
    assert got["rule"].to_list() == clf.explain(frame)["rule"].to_list()
    assert np.array_equal(got.select("probability_bad", "probability_good").to_numpy(), clf.predict_proba(frame))


def test_predictions_on_the_standard_output_and_in_files_are_the_same(drs, folder, tmp_path):
    code, out, err = drs("predict", folder / "model.json", folder / "t.csv", "--keep", "all")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].startswith((folder / "t.csv").read_text("utf8").splitlines()[1])
    for output in ("p.csv", "p.tsv", "p.arrow", "p.csv.gz", "p.TSV.GZ"):
        drs("predict", folder / "model.json", folder / "t.csv", "--keep", "all", "-o", tmp_path / output)
    assert (tmp_path / "p.csv").read_text("utf8") == out
    assert (tmp_path / "p.tsv").read_text("utf8").count("\t") >= out.count("\n") * 8
    assert pl.read_ipc(tmp_path / "p.arrow").height == out.count("\n") - 1
    assert gzip.decompress((tmp_path / "p.csv.gz").read_bytes()) == (tmp_path / "p.csv").read_bytes()
    assert gzip.decompress((tmp_path / "p.TSV.GZ").read_bytes()) == (tmp_path / "p.tsv").read_bytes()


def test_a_table_with_decimal_commas_is_the_same_table(drs, folder, frame, tmp_path):
    europe = ("--separator", ";", "--decimal", ",")
    table, model, same = tmp_path / "t.csv", tmp_path / "m.json", folder / "model.json"
    frame.write_csv(table, separator=";", decimal_comma=True, datetime_format="%F %T")
    assert drs("fit", table, "-t", "y", "-o", model, "--test-size", 0, *QUICK, *europe)[2] == ""
    assert model.read_text("utf8") == same.read_text("utf8")
    assert drs("predict", model, table, "--proba", *europe) == drs("predict", same, folder / "t.csv", "--proba")
    assert drs("evaluate", model, table, "-t", "y", *europe) == drs("evaluate", same, folder / "t.csv", "-t", "y")
    assert drs("explain", model, table, *europe) == drs("explain", same, folder / "t.csv")
    pages = [tmp_path / "a.html", tmp_path / "b.html"]
    assert drs("report", model, table, "-t", "y", "-o", pages[0], *europe) == (0, "", "")
    assert drs("report", same, folder / "t.csv", "-t", "y", "-o", pages[1]) == (0, "", "")
    assert pages[0].read_text("utf8") == pages[1].read_text("utf8")


def test_a_decimal_comma_that_was_not_told_is_noticed(drs, tmp_path):
    rows = "".join(f"{k},{k % 10}5;z{k};{'ab'[k > 20]}\n" for k in range(40))
    (tmp_path / "t.csv").write_text("x;name;y\n" + rows)
    arguments = ("fit", tmp_path / "t.csv", "-t", "y", "--test-size", 0, "--separator", ";", "--drop", "name")
    _, _, err = drs(*arguments)
    assert err == (
        "drs: warning: column 'x' is text, but nearly all its values look like numbers with a decimal comma, such as "
        "'0,05'; to read them as numbers give --decimal ,\n"
    )
    assert drs(*arguments, "--decimal", ",")[2] == ""
    assert "decimal" not in drs(*arguments, "--kind", "x=text")[2]


@pytest.mark.parametrize("name", ["p.parquet", "p.arrow"])
def test_kept_columns_have_their_kinds_where_the_format_knows_kinds(drs, tmp_path, name):
    """Those that the rules read as they are read for them, others by their cells; in text files cells stay."""
    model, table = tmp_path / "m.json", tmp_path / "t.csv"
    rules = RuleSet((Rule.parse('IF age <= 37 AND code = "1" THEN good'),), ("bad", "good"), "bad", (5, 5), (5, 1))
    model.write_text(rules.to_json())
    cells = "age,code,x,big,zip,day,flag,note\n1,1,1.50,1e400,01234,2020-01-31,TRUE,NA\n2.0,2,NA,7,99999,,false, a\n"
    table.write_text(cells)
    assert drs("predict", model, table, "--keep", "all", "-o", tmp_path / name) == (0, "", "")
    got = (pl.read_parquet if name == "p.parquet" else pl.read_ipc)(tmp_path / name)
    assert got.drop("label", "rule").to_dict(as_series=False) == {
        "age": [1.0, 2.0],
        "code": ["1", "2"],
        "x": [1.5, None],
        "big": [math.inf, 7.0],
        "zip": ["01234", "99999"],
        "day": [datetime.datetime(2020, 1, 31), None],
        "flag": [True, False],
        "note": [None, " a"],
    }
    assert got["label"].to_list() == ["good", "bad"]
    _, out, _ = drs("predict", model, table, "--keep", "all")
    assert [line.rsplit(",", 2)[0] for line in out.splitlines()] == cells.splitlines()


def test_kept_columns_of_several_kinds_stay_text(drs, tmp_path):
    model, table = tmp_path / "m.json", tmp_path / "t.csv"
    rule = Rule.parse("IF c in {1, True} THEN good")
    rules = RuleSet((rule,), ("bad", "good"), "bad", (5, 5), (5, 1), kinds=(("c", "category"),))
    model.write_text(rules.to_json())
    table.write_text("c\n1\nx\n")
    assert drs("predict", model, table, "--keep", "c", "-o", tmp_path / "p.parquet") == (0, "", "")
    assert pl.read_parquet(tmp_path / "p.parquet")["c"].to_list() == ["1", "x"]


@pytest.mark.parametrize("scorecards", ["points (for good): 2 if age > 60, 1 if sex = 'F'", "none"])
def test_no_records_no_predictions(drs, folder, tmp_path, scorecards):
    (tmp_path / "none.csv").write_text((folder / "t.csv").read_text("utf8").splitlines()[0], "utf8")
    model = tmp_path / "model.json"
    assert drs("fit", folder / "t.csv", "-t", "y", "-o", model, "--scorecards", scorecards, *QUICK)[0] == 0
    assert bool(rules_in(model).scorecards) == (scorecards != "none")
    code, out, _ = drs("predict", model, tmp_path / "none.csv", "--proba", "--prefix", "my_")
    assert (code, out) == (0, "my_label,my_rule,my_probability_bad,my_probability_good\n")
    assert drs("evaluate", model, tmp_path / "none.csv", "-t", "y")[0] == 1


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_rules_that_read_no_column(drs, folder, tmp_path, name):
    model = tmp_path / "m.json"
    model.write_text(RuleSet((), (0, 1.5), 1.5, (5, 5), (5, 5)).to_json())
    assert drs("predict", model, folder / name)[1] == "label,rule\n" + 300 * "1.5,\n"


def test_a_pipe_at_both_ends(drs, folder, monkeypatch):
    content = (folder / "t.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
    code, out, err = drs("fit", "-", "-t", "y", "-o", "-", *QUICK)
    assert code == 0
    assert RuleSet.from_json(out) == rules_in(folder / "model.json")
    assert "OTHERWISE" in err
    assert "held out" in err


def test_held_out_figures_are_those_of_rules_that_have_not_seen_the_records(drs, folder, frame):
    code, out, _ = drs("fit", folder / "t.csv", "-t", "y", "--test-size", 0.4, *QUICK)
    inside, outside = train_test_split(np.arange(300), test_size=0.4, stratify=frame["y"].to_numpy(), random_state=0)
    clf = fitted(frame[np.sort(inside)])
    truth, said = frame["y"].to_numpy()[np.sort(outside)], clf.predict(frame[np.sort(outside)])
    rest = frame[np.sort(outside)]
    expected = {
        "accuracy": f"{accuracy_score(truth, said):.3f}",
        "balanced accuracy": f"{balanced_accuracy_score(truth, said):.3f}",
        "log loss": f"{log_loss(truth, clf.predict_proba(rest)):.3f}",
        "rules": f"{len(clf.rule_set_)}",
        "conditions": f"{metrics.mean_conditions(clf.rule_set_):.1f}",
        "overlap": f"{metrics.overlap_share(clf.rule_set_, rest):.1%}",
        "uncovered": f"{1 - metrics.coverage(clf.rule_set_, rest):.1%}",
    }
    assert code == 0
    assert "Measured on 120 records held out" in out
    assert {name: re.search(rf"^  {name} +(\S+)", out, re.MULTILINE)[1] for name in expected} == expected
    majority = max((truth == "good").mean(), (truth == "bad").mean())
    assert f": {majority:.3f}" in out


def test_a_class_of_one_record_is_learnt_from(drs, tmp_path):
    rows = [f"{k},{'a' if k < 20 else 'b'}" for k in range(40)] + ["99,c"]
    (tmp_path / "t.csv").write_text("\n".join(["x,y", *rows]))
    code, out, _ = drs("fit", tmp_path / "t.csv", "-t", "y", "--min-support", 1)
    assert code == 0
    assert "Measured on 10 records held out" in out
    (tmp_path / "few.csv").write_text("x,y\n1,a\n2,b\n3,a\n4,b\n")
    code, out, err = drs("fit", tmp_path / "few.csv", "-t", "y")
    assert (code, "Measured" in out) == (0, False)
    assert "too few records" in err


def test_evaluate_agrees_with_scikit_learn(drs, folder, frame):
    arguments = ("evaluate", folder / "model.json", folder / "t.csv", "-t", "y")
    facts = json.loads(drs(*arguments, "--json")[1])
    rules = rules_in(folder / "model.json")
    truth, said = frame["y"].to_numpy(), rules.predict(frame)
    assert facts["accuracy"] == accuracy_score(truth, said)
    assert facts["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, said))
    assert facts["log_loss"] == pytest.approx(log_loss(truth, rules.predict_proba(frame)))
    assert facts["confusion"] == confusion_matrix(truth, said).tolist()
    assert facts["overlap_share"] == metrics.overlap_share(rules, frame)
    for told, rule in zip(facts["rules"], rules, strict=False):
        covered = rule.covers(frame)
        assert told["n_covered"] == covered.sum()
        assert told["precision"] == pytest.approx((truth[covered] == rule.label).mean())
    _, out, _ = drs(*arguments)
    assert f"{accuracy_score(truth, said):.3f}" in out
    assert all(" AND ".join(map(str, rule.conditions)) in out for rule in rules)


def test_a_table_is_as_wide_as_the_terminal_and_keeps_its_figures(drs, folder, monkeypatch):
    arguments = ("evaluate", folder / "model.json", folder / "t.csv", "-t", "y")
    figures = re.findall(r"^ +\d+ +[\d.]+ +\d+ +[\d.]+ +\d+", drs(*arguments)[1], re.MULTILINE)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    bare = re.sub(r"\x1b\[[0-9;]*m", "", drs(*arguments)[1])
    assert max(map(len, bare.splitlines())) <= 60
    assert "…" in bare
    assert len(figures) > 4
    assert all(" ".join(line.split()) in " ".join(bare.split()) for line in figures)


def test_explain_says_why(drs, folder, frame):
    pages = rules_in(folder / "model.json").why(frame)
    code, out, _ = drs("explain", folder / "model.json", folder / "t.csv")
    assert code == 0
    parts = re.split(r"^record ", out, flags=re.MULTILINE)[1:]
    assert len(parts) == len(pages)
    for number, (part, page) in enumerate(zip(parts, pages, strict=True), 1):
        head, *lines = part.splitlines()
        assert head == str(number)
        assert [line.strip() for line in lines] == page.splitlines()
    code, out, _ = drs("explain", folder / "model.json", folder / "t.csv", "--row", 17, "--row", 3)
    assert [line for line in out.splitlines() if not line.startswith(" ")] == ["record 17", "record 3"]
    assert drs("explain", folder / "model.json", folder / "t.csv", "--row", 301)[0] == 2


def test_show_prints_the_page(drs, folder):
    page = str(rules_in(folder / "model.json")) + "\n"
    assert drs("show", folder / "model.json") == (0, page, "")


def test_show_on_a_terminal_tells_the_same_rules(drs, folder, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    _, out, _ = drs("show", folder / "model.json")
    assert re.search(r"\x1b\[([0-9]+;)*3[0-7]m", out)
    bare = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert max(map(len, bare.splitlines())) <= 60
    words = " ".join(bare.split())
    for rule in rules_in(folder / "model.json").rules:
        assert all(str(condition) in words for condition in rule.conditions)
        assert f"{rule.precision:.2f} of {rule.n_covered:,}" in words
    assert drs("show", folder / "model.json", "--plain")[1] == str(rules_in(folder / "model.json")) + "\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[([0-9]+;)*(3[0-7]|9[0-7])m", drs("show", folder / "model.json")[1])


def test_what_is_not_all_does_not_read_as_all(drs, tmp_path, monkeypatch):
    """3,997 of 3,998 right is no precision of 1.00, one of 4,000 no coverage of 0.0%: on a terminal as in the page."""
    few, most = (Rule.parse(words) for words in ("IF x = 3 THEN b", "IF x <= 2 THEN a"))
    few = dataclasses.replace(few, class_counts=(("a", 0), ("b", 1)))
    most = dataclasses.replace(most, class_counts=(("a", 3997), ("b", 1)))
    rules = RuleSet((most, few), ("a", "b"), "a", (3998, 2), (1, 0))
    (tmp_path / "m.json").write_text(rules.to_json())
    (tmp_path / "t.csv").write_text("x,y\n" + 3997 * "1,a\n" + "2,b\n3,b\n4,a\n")
    (tmp_path / "wrong.csv").write_text("x,y\n1,a\n" + 3000 * "1,b\n" + "3,a\n")
    _, told, _ = drs("evaluate", tmp_path / "m.json", tmp_path / "t.csv", "-t", "y")
    assert re.search(r"accuracy +>0\.999  always predicting a: >0\.999\n", told)
    assert re.search(r"uncovered +<0\.1%", told)
    assert re.search(r"overlap +0\.0%", told)
    assert re.search(r"^ +1 +>0\.99 +3,998 +>0\.99 +3,998 ", told, re.MULTILINE)
    assert re.search(r"^ +2 +1\.00 +1 +1\.00 +1 ", told, re.MULTILINE)
    _, told, _ = drs("evaluate", tmp_path / "m.json", tmp_path / "wrong.csv", "-t", "y")
    assert re.search(r"^  accuracy +<0\.001  ", told, re.MULTILINE)
    assert re.search(r"^ +1 +<0\.01 +3,001 ", told, re.MULTILINE)
    monkeypatch.setenv("FORCE_COLOR", "1")
    bare = re.sub(r"\x1b\[[0-9;]*m", "", drs("show", tmp_path / "m.json")[1])
    assert ">0.99 of 3,998 (>99.9%)" in bare
    assert "1.00 of 1 (<0.1%)" in bare


def test_what_a_table_says_is_never_markup(drs, tmp_path, monkeypatch):
    """Neither rich's markup nor the terminal's own codes in names and values are acted on."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    nasty = ["[link=http://x.y]a[/link]", "\x1b[31mred\x07", "[bold]b[/]", "\u202eevil"]
    rows = [f'"{nasty[k % 4]}",{k % 7},"{"[blink]yes" if k % 4 < 2 else nasty[1]}"' for k in range(80)]
    (tmp_path / "t.csv").write_text("\n".join(["[red]name[/red]\x1b[2J,x,y", *rows]), "utf8")
    model = tmp_path / "m.json"
    seen = "".join(drs("fit", tmp_path / "t.csv", "-t", "y", "-o", model)[1:])
    seen += "".join("".join(drs(command, model)[1:]) for command in ("show",))
    seen += "".join(drs("evaluate", model, tmp_path / "t.csv", "-t", "y")[1:])
    seen += "".join(drs("explain", model, tmp_path / "t.csv")[1:])
    seen += "".join(drs("evaluate", model, tmp_path / "t.csv", "-t", "\x1b[2J")[1:])
    assert "[blink]yes" in seen
    assert "[link=http://x.y]a[/link]" in seen
    assert not set(re.sub(r"\x1b\[[0-9;]*m", "", seen)) & set("\x1b\x07\u202e")
    assert not {"\x1b[5m", "\x1b[31mred"} & set(re.findall(r"\x1b\[5m|\x1b\[31mred", seen))


def test_exports_are_those_of_the_rules(drs, folder, tmp_path):
    model = folder / "model.json"
    rules = rules_in(model)
    assert drs("export", model, "--to", "json")[1] == model.read_text("utf8")
    sql = drs("export", model, "--to", "sql", "--dialect", "sqlite", "--table", "people", "--keep", "age")[1]
    assert sql == rules.to_sql(dialect="sqlite", table="people", keep=["age"])
    assert drs("export", model, "--to", "python", "--kind", "polars", "-o", tmp_path / "a.py") == (0, "", "")
    assert (tmp_path / "a.py").read_text("utf8") == rules.to_python(kind="polars")
    assert drs("export", model, "--to", "pmml", "--name", "x")[1] == rules.to_pmml(name="x")
    assert drs("export", model, "--to", "pmml", "--dialect", "duckdb")[0] == 2
    assert drs("export", model, "--to", "java")[0] == 2
    code, out, err = drs("export", model, "--to", "sql", "--dialect", "cobol")
    assert (code, out) == (2, "")
    assert err.startswith("drs: error: --dialect must be one of")


def test_report_is_the_page_of_the_rules(drs, folder, frame, tmp_path):
    from diverse_rule_sets import report

    arguments = ("report", folder / "model.json", folder / "t.csv", "-t", "y", "-o", tmp_path / "r.html")
    assert drs(*arguments) == (0, "", "")
    page = (tmp_path / "r.html").read_text("utf8")
    assert "<html" in page
    assert len(page) > 10_000
    assert callable(report.write_html)
    assert len(frame) == 300


def test_report_is_written_whole_or_not_at_all(drs, folder, tmp_path, monkeypatch):
    import diverse_rule_sets.report as report

    def html(rule_set, X, y, **options):
        if broken:
            raise ValueError("half a page")
        return f"{len(rule_set)} {X.height} {len(y)}"

    monkeypatch.setattr(report, "html", html)
    arguments = ("report", folder / "model.json", folder / "t.csv", "-t", "y", "-o", tmp_path / "r.html")
    broken = False
    assert drs(*arguments) == (0, "", "")
    before = (tmp_path / "r.html").read_text()
    assert before == f"{len(rules_in(folder / 'model.json'))} 300 300"
    broken = True
    assert drs(*arguments)[0] == 1
    assert (tmp_path / "r.html").read_text() == before
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_by_example(command):
    said = CliRunner().invoke(app, [command, "--help"]).output
    assert said.count(f"drs {command} ") >= 3 - (command in ("report", "export"))


def test_the_overview(drs):
    code, out, _ = drs()
    assert code == 0
    assert all(f" {command} " in out for command in COMMANDS)
    assert drs("--version")[1].startswith("drs ")


def test_numbers_with_a_fraction_may_be_classes(drs, tmp_path):
    """Word for word as in a text file, or as polars writes them."""
    frame = pl.DataFrame({"x": list(range(40)), "y": [1.5] * 20 + [2.0] * 20})
    frame.write_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{x},{y:.2f}\n" for x, y in frame.iter_rows()))
    for name, classes in (("t.csv", ("1.50", "2.00")), ("t.parquet", ("1.5", "2.0"))):
        model = tmp_path / "m.json"
        code, out, _ = drs("fit", tmp_path / name, "-t", "y", "--kind", "y=text", "-o", model)
        assert (code, "Measured on" in out) == (0, True)
        assert rules_in(model).classes == classes
        facts = json.loads(drs("evaluate", model, tmp_path / name, "-t", "y", "--json")[1])
        assert facts["accuracy"] == 1


@pytest.mark.parametrize(
    ("labels", "share", "n"),
    [("aabb", 0.5, 2), ("aabb", 0.25, None), ("aabb", 0.75, None), ("aaab", 0.25, 1), ("abcd", 0.5, None)],
)
def test_records_are_held_out_where_each_class_can_be_on_both_sides(labels, share, n):
    from diverse_rule_sets.cli._fitting import split_records

    parts = split_records(pl.Series("y", list(labels)), share, 0)
    assert (None if parts is None else parts[1].size) == n
    if parts is not None:
        assert sorted(np.concatenate(parts)) == list(range(len(labels)))


def test_what_the_help_of_report_says_of_defaults():
    from diverse_rule_sets.cli._options import REPORT_OPTIONS
    from diverse_rule_sets.report import html

    defaults = inspect.signature(html).parameters
    assert {option.name: option.default for option in REPORT_OPTIONS} == {
        name: defaults[name].default for name in ("n_samples", "random_state")
    }


def test_labels_that_are_numbers_stay_numbers(drs, tmp_path):
    rows = "".join(f"{k},{int(k > 20)}\n" for k in range(40))
    (tmp_path / "t.csv").write_text("x,y\n" + rows)
    model = tmp_path / "m.json"
    weights = ("--class-weight", "0=1", "--class-weight", "1=3", "--default", "1")
    assert drs("fit", tmp_path / "t.csv", "-t", "y", "-o", model, *weights)[0] == 0
    assert rules_in(model).classes == (0, 1)
    assert rules_in(model).default == 1
    light, heavy = rules_in(model).class_weights
    assert heavy == pytest.approx(3 * light)
    facts = json.loads(drs("evaluate", model, tmp_path / "t.csv", "-t", "y", "--json")[1])
    assert facts["accuracy"] == 1
