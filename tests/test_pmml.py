"""PMML, evaluated by JPMML: the same label, rule and probabilities as the rule set gives."""

import datetime
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diverse_rule_sets import (
    DiverseRuleSetClassifier,
    Equals,
    Interval,
    IsIn,
    IsMissing,
    IsNotIn,
    Rule,
    RuleSet,
    baselines,
)
from diverse_rule_sets.model._decision import CONFLICTS
from models import as_polars, kinds_of, records_for, rule_sets
from servers import jpmml

# Characters that XML 1.0 cannot represent.
unwritable = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@pytest.fixture(scope="module")
def java():
    return jpmml()


def evaluate(java, rule_set, table):
    """Return the outputs of JPMML for a table of lists; dates are text, as in a file."""
    from jpmml_evaluator import make_evaluator

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pmml"
        path.write_text(rule_set.to_pmml(), "utf8", newline="\n")
        evaluator = make_evaluator(str(path), backend=java)
    columns = {str(name): [date_text(v) for v in values] for name, values in table.items()}
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    return evaluator.evaluateAll(frame, nan_as_missing=True)


def date_text(value):
    return value.replace(tzinfo=None).isoformat() if isinstance(value, datetime.datetime) else value


def check(java, rule_set, table, kinds):
    frame = as_polars(table, kinds)
    output = evaluate(java, rule_set, table)
    assert output.filter(like="label").iloc[:, -1].tolist() == rule_set.predict(frame).tolist()
    deciding = ["default" if j < 0 else str(j + 1) for j in rule_set.deciding_rules(frame).tolist()]
    assert output.filter(regex="^rule_*$").iloc[:, 0].tolist() == deciding
    shares = output[[name for name in output.columns if name.startswith("probability(")]].to_numpy(float)
    np.testing.assert_allclose(shares, rule_set.predict_proba(frame), atol=1e-9)


def texts(rule_set, columns):
    """Yield every text that is written to the document."""
    yield from (str(label) for label in rule_set.classes)
    for name, (_, pool) in columns.items():
        yield name
        yield from (value for value in pool if isinstance(value, str))


@settings(max_examples=200)
@given(rule_sets(scorecards=True), st.integers(0, 1000))
def test_random_models_give_the_same_results(java, drawn, seed):
    rule_set, columns = drawn
    if any(unwritable.search(text) for text in texts(rule_set, columns)):
        return
    check(java, rule_set, records_for(columns, seed), {name: kind for name, (kind, _) in columns.items()})


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_fitted_models_give_the_same_results(java, mixed, conflict):
    X, y = mixed
    frame = pl.from_pandas(X.astype({"size": str}).replace({"size": {"nan": None}}))
    clf = DiverseRuleSetClassifier(random_state=0, conflict=conflict, max_overlap=1.0, negation=True)
    rule_set = clf.fit(frame, y).rule_set_
    check(java, rule_set, frame.to_dict(as_series=False), kinds_of(frame))


@pytest.mark.parametrize("baseline", [baselines.CBAClassifier(), baselines.CN2Classifier(), baselines.IDSClassifier()])
def test_baselines_give_the_same_results(java, baseline):
    from conftest import make_mixed

    table, y = make_mixed(300, 3)
    X = pl.DataFrame(table)
    rule_set = baseline.fit(X, y).rule_set_
    assert len(rule_set) > 1
    check(java, rule_set, table, kinds_of(X))


def small():
    return RuleSet((Rule.parse("IF age <= 37 THEN good"),), ("bad", "good"), "bad", (5, 5), (5, 1))


def test_names_and_values_are_only_text():
    hostile = '"/><Evil a="&x;\n\t\r]]>'
    rule_set = replace(small(), rules=(Rule((Equals(hostile, hostile),), "good"),))
    root = ElementTree.fromstring(rule_set.to_pmml())
    assert not [node for node in root.iter() if "Evil" in node.tag]
    (predicate,) = root.iter("{http://www.dmg.org/PMML-4_4}SimplePredicate")
    assert predicate.attrib == {"field": hostile, "operator": "equal", "value": hostile}


def test_a_conflict_function_raises_an_error():
    with pytest.raises(ValueError, match="conflict is a function"):
        replace(small(), conflict=lambda rules: rules[0]).to_pmml()


def test_errors_name_the_character_or_the_argument():
    with pytest.raises(ValueError, match=r"XML cannot write the character '\\x01' of 'a\\x01'"):
        replace(small(), rules=(Rule((IsMissing("a\x01"),), "good"),)).to_pmml()
    with pytest.raises(TypeError, match="name must be a string, got 3"):
        small().to_pmml(name=3)
    with pytest.raises(ValueError, match="two columns have the same name as text"):
        replace(small(), rules=(Rule((IsMissing(1), IsMissing("1")), "good"),)).to_pmml()


def one_rule(condition, classes=("no", "yes"), **fields):
    rule = Rule((condition,), classes[1], ((classes[1], 3),))
    return RuleSet((rule,), classes, classes[0], (9, 9), (5, 5), "first", **fields)


@pytest.mark.parametrize("conflict", ["first", "vote", "counts"])
@pytest.mark.parametrize("zone", [None, datetime.UTC])
def test_dates_are_compared_to_the_microsecond_and_can_be_categories(java, conflict, zone):
    moment = datetime.datetime(1500, 2, 28, 23, 59, 59, 500, tzinfo=zone)
    values = [moment + datetime.timedelta(microseconds=k) for k in (-1, 0, 1, 1000)]
    last = datetime.datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=zone)
    for condition, expected in (
        (Interval("x", high=moment), "yes yes no no no no"),
        (Interval("x", low=moment, high=last), "no no yes yes yes no"),
        (Equals("x", moment), "no yes no no no no"),
        (IsIn("x", (moment, values[2])), "no yes yes no no no"),
        (IsNotIn("x", (moment, values[2])), "yes no no yes yes no"),
    ):
        rule_set = replace(one_rule(condition), conflict=conflict)
        output = evaluate(java, rule_set, {"x": [*values, last, None]})
        assert output["label"].tolist() == expected.split(), str(condition)


@pytest.mark.parametrize("classes", [(5, 2**31), (-(2**31) - 1, 5), (5, 2**53), (-5, 5), (0.5, 1.5), (1, 2.5)])
def test_labels_that_are_numbers(java, classes):
    output = evaluate(java, one_rule(Interval("x", high=1), classes), {"x": [1.0, 2.0]})
    assert output["label"].tolist() == [classes[1], classes[0]]


def test_numbers_that_pmml_programs_round():
    with pytest.raises(ValueError, match="PMML programs cannot return the label 9007199254740993 exactly"):
        one_rule(Interval("x", high=1), (5, 2**53 + 1)).to_pmml()
    rule_set = one_rule(Equals("id", 2**53 + 1), kinds=(("id", "category of numbers"),))
    with pytest.warns(UserWarning, match="PMML compares the column 'id' with 9007199254740993 as a double"):
        rule_set.to_pmml()
    assert one_rule(Equals("id", 2**53 + 1), kinds=(("id", "number"),)).to_pmml()  # as in this package
