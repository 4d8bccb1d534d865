"""Results for a table: each column is decoded once, and all results agree with those of single rules."""

import collections
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diverse_rule_sets import DiverseRuleSetClassifier, IsMissing, Rule, RuleSet, metrics
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets.cli._predicting import predictions, records_for
from diverse_rule_sets.cli._reading import load
from diverse_rule_sets.model import _answers as answers_module
from diverse_rule_sets.model._decision import CONFLICTS
from diverse_rule_sets.path._measuring import Fold, measure
from models import as_polars, rule_sets
from models import records_for as some_records


@pytest.fixture
def decoded(monkeypatch):
    """Count how often each column of a table is decoded; tables of changed records are not counted."""
    counts = collections.Counter()
    column = Table.column

    def counting(self, name, expected=""):
        counts[name] += 1
        return column(self, name, expected)

    monkeypatch.setattr(Table, "column", counting)
    return counts


RULES = (
    "IF age > 30 AND sex = 'F' THEN good",
    "IF age <= 50 THEN bad",
    "IF 20 < age <= 60 AND job is missing THEN good",
)
FALLBACKS = ("IF sex = 'M' THEN good", "IF income > 5 THEN bad")
FRAME = pd.DataFrame(
    {
        "age": [10.0, 35.0, 70.0, None, 55.0],
        "sex": ["F", "F", "M", "M", None],
        "job": ["a", None, "b", None, None],
        "income": [1.0, 9.0, 9.0, 1.0, 9.0],
        "unused": [1, 2, 3, 4, 5],
    }
)
LABELS = ["bad", "good", "good", "bad", "bad"]
ONCE = {"age": 1, "sex": 1, "job": 1, "income": 1}


def a_set(conflict="precision", fallbacks=FALLBACKS):
    counts = (("bad", 3), ("good", 5))
    rules, fallbacks = (tuple(Rule(*part(text), counts) for text in some) for some in (RULES, fallbacks))
    return RuleSet(rules, ("bad", "good"), "bad", (15, 19), (11, 12), conflict, fallbacks)


def part(text):
    rule = Rule.parse(text)
    return rule.conditions, rule.label


@pytest.fixture
def fitted(decoded):
    clf = DiverseRuleSetClassifier(random_state=0).fit(FRAME, LABELS)
    clf.rule_set_ = a_set()
    decoded.clear()
    return clf


@pytest.mark.parametrize("method", ["predict", "predict_proba", "explain", "why"])
@pytest.mark.parametrize("conflict", [*CONFLICTS, lambda rules: rules[0]])
def test_a_classifier_decodes_each_column_once(fitted, decoded, method, conflict):
    fitted.rule_set_ = a_set(conflict)
    getattr(fitted, method)(FRAME)
    assert decoded == ONCE


@pytest.mark.parametrize("method", ["answer", "predict", "predict_proba", "deciding_rules", "reasons", "why"])
def test_a_rule_set_decodes_each_column_once(decoded, method):
    getattr(a_set(), method)(FRAME)
    assert decoded == ONCE


def test_all_results_come_from_one_pass(decoded):
    answers = a_set("counts").answer(FRAME)
    answers.probabilities, answers.depth, answers.reasons(), answers.predictions(), answers.covering_rules()
    answers.covers.flags()
    assert decoded == ONCE


def test_editing_decodes_each_column_once(decoded):
    rule_set = a_set().evaluated(FRAME, LABELS)
    assert decoded == ONCE
    assert dict(rule_set.kinds) == {"age": "number", "sex": "text", "job": "text", "income": "number"}


def test_metrics_decode_each_column_once_and_none_that_only_fallback_rules_read(decoded):
    rule_set, once = a_set(), {"age": 1, "sex": 1, "job": 1}
    frame = FRAME.drop(columns="income")
    for figure in (metrics.overlap, metrics.overlap_share, metrics.coverage, metrics.diversity, RuleSet.covers):
        decoded.clear()
        figure(rule_set, frame)
        assert decoded == once
    decoded.clear()
    metrics.objective(rule_set, frame, LABELS, lambda_=1.0)
    assert decoded == once


def test_a_point_of_a_path_decodes_each_column_of_both_parts_once(decoded):
    table = answers_module.as_table(FRAME)
    labels = np.array(LABELS, object)
    measure(
        DiverseRuleSetClassifier(),
        a_set(fallbacks=()),
        Fold(table, table, FRAME, labels, labels),
        table.with_cache(),
        {},
    )
    assert decoded == {"age": 2, "sex": 2, "job": 2}


def test_drs_predict_decodes_each_column_once(decoded, tmp_path):
    file = tmp_path / "some.csv"
    FRAME.to_csv(file, index=False)
    frame = predictions(a_set(), load(str(file), {}), ["unused"], proba=True, prefix="my_")
    assert decoded == ONCE
    assert frame.columns == ["unused", "my_label", "my_rule", "my_probability_bad", "my_probability_good"]
    assert frame["my_label"].to_list() == a_set().predict(FRAME).tolist()
    assert frame["my_rule"].fill_null(0).to_list() == (a_set().deciding_rules(FRAME) + 1).tolist()
    empty = tmp_path / "empty.csv"
    FRAME[:0].to_csv(empty, index=False)
    none = predictions(a_set(), load(str(empty), {}), ["unused"], proba=True, prefix="my_")
    assert (none.columns, none.height) == (frame.columns, 0)


def test_the_text_none_in_a_file_is_read_as_text(tmp_path):
    """Intervals and `is missing` list no values, so that the text None in a file is not read as a missing value."""
    file = tmp_path / "some.csv"
    pl.DataFrame({"a": ["None", "x", "1"]}).write_csv(file)
    rule_set = RuleSet((Rule((IsMissing("a"),), 1),), (0, 1), 0, (1, 1), (1, 1), kinds=(("a", "category"),))
    read = records_for(rule_set, load(str(file), {"missing": ["x"]}))
    assert read["a"].to_list() == ["None", None, 1.0]


def slow_answers(rule_set, frame):
    """Return the fields of `Answers`, computed rule by rule with the whole table in memory."""
    codes = dict(rule_set.missing_values)
    covers = [rule.covers(frame, missing_values=codes) for rule in rule_set.all_rules]
    covers = np.array(covers, bool).reshape(-1, len(frame)).T
    n_rules = len(rule_set)
    by_rules, by_fallbacks = covers[:, :n_rules], covers[:, n_rules:]
    deciding, labels = [], []
    for row, fallbacks in zip(by_rules, by_fallbacks, strict=True):
        if row.any():
            deciding.append(int(rule_set.decision.deciding_rules(row[None])[0]))
        else:
            deciding.append(n_rules + int(np.argmax(fallbacks)) if fallbacks.any() else -1)
        by_counts = rule_set.adds_counts and row.any()
        labels.append(int(rule_set.decision.winners(row[None])[0] if by_counts else rule_set.labels_of(deciding[-1])))
    return by_rules, deciding, labels


@settings(max_examples=150)
@given(rule_sets(), st.integers(0, 1000), st.sampled_from([1, 1 << 21]))
def test_results_equal_those_of_single_rules(drawn, seed, block):
    rule_set, columns = drawn
    frame = as_polars(some_records(columns, seed, n=70), {name: kind for name, (kind, _) in columns.items()})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers_module, "_BLOCK", block)
        answers = rule_set.answer(frame)
        covers, deciding, labels = slow_answers(rule_set, frame)
        np.testing.assert_array_equal(answers.covers.flags(), covers)
        np.testing.assert_array_equal(np.reshape(list(answers.covers), covers.T.shape), covers.T)
        np.testing.assert_array_equal(answers.depth, covers.sum(axis=1))
        np.testing.assert_array_equal(answers.deciding, deciding)
        np.testing.assert_array_equal(answers.labels, labels)
        numbers, agreements, contradictions = answers.covering_rules()
        reasons, probabilities = answers.reasons(), answers.probabilities
    assert numbers == [(np.flatnonzero(row) + 1).tolist() for row in covers]
    labels_of_rules = [{rule_set.rules[j - 1].label for j in some} for some in numbers]
    assert contradictions == [len(some) > 1 for some in labels_of_rules]
    assert agreements == [len(some) < len(rules) for some, rules in zip(labels_of_rules, numbers, strict=True)]
    assert reasons == [rule_set.reasons(frame[i])[0] for i in range(70)]
    assert all(math.isclose(row.sum(), 1, abs_tol=1e-9) for row in probabilities)


def test_the_report_page_decodes_each_column_once(monkeypatch):
    """The rules, the example records and the form to edit a record use the same decoded columns."""
    from diverse_rule_sets import report
    from diverse_rule_sets._input import tables

    clf = DiverseRuleSetClassifier(random_state=0).fit(FRAME, LABELS)
    decoded = []
    decode = tables.decode
    monkeypatch.setattr(tables, "decode", lambda name, *series: decoded.append(name) or decode(name, *series))
    report.html(clf, FRAME, LABELS)
    assert sorted(map(str, decoded)) == sorted({str(name) for name in decoded})
    assert set(clf.rule_set_.columns) <= set(decoded)
