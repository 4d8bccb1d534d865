"""Two hundred random fitted models, each run in every place that rules are exported to: one answer everywhere."""

import contextlib
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import test_pmml
import test_python
import test_sql
from diverse_rule_sets import Rule, RuleSet, baselines
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._decision import CONFLICTS
from internal import classifier
from models import ALL_KINDS, HOSTILE, NAMES, as_polars, records_for, values_of
from servers import jpmml


@st.composite
def tables(draw):
    """Draw columns of all kinds with gaps, hostile names and values, extreme numbers, and labels that depend on it."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique_by=str.casefold))
    columns = {}
    for name in names:
        kind = draw(st.sampled_from(ALL_KINDS))
        columns[name] = (kind, draw(values_of(kind)))
    seed = draw(st.integers(0, 2**32 - 1))
    table = records_for(columns, seed, n=120)
    rng = np.random.default_rng(seed)
    classes = sorted(rng.choice(HOSTILE, rng.integers(2, 5), replace=False).tolist())
    codes = np.zeros(120, np.int64)
    for values in table.values():  # each value of a column moves the label by a step of its own
        steps = {value: int(rng.integers(0, 2 * len(classes))) for value in dict.fromkeys(values)}
        codes += np.array([steps[value] // 2 for value in values])
    noisy = rng.random(120) < 0.1
    codes[noisy] = rng.integers(0, len(classes), noisy.sum())
    y = np.array(classes, object)[codes % len(classes)]
    y[:2] = classes[:2]  # two classes at least
    return table, {name: kind for name, (kind, _) in columns.items()}, y


@st.composite
def estimators(draw):
    """Draw a classifier: mostly ours with this or that turned, now and then a baseline."""
    baseline = draw(st.sampled_from([None] * 9 + [baselines.CBAClassifier, baselines.CN2Classifier]))
    if baseline is not None:
        return baseline()
    return classifier(
        conflict=draw(st.sampled_from(sorted(CONFLICTS))),
        max_overlap=draw(st.sampled_from([0.01, 1.0])),
        max_rules=draw(st.sampled_from([3, 40])),
        negation=draw(st.booleans()),
        class_weight=draw(st.sampled_from(["balanced", None])),
        smoothing=draw(st.sampled_from([None, 0.0, 5.0])),
        min_evidence=draw(st.sampled_from([0.0, 1.0])),
        n_candidates=4,
        random_state=0,
    )


@pytest.fixture(scope="module")
def places():
    """Open the three databases and start Java."""
    with contextlib.ExitStack() as stack:
        databases = [stack.enter_context(test_sql.opened(name)) for name in ("duckdb", "sqlite", "postgres")]
        yield databases, jpmml()


def _texts(rule_set, table):
    """Give every text that a model may hold."""
    yield from (str(label) for label in rule_set.classes)
    for name, values in table.items():
        yield name
        yield from (value for value in values if isinstance(value, str))


def check_everywhere(places, rule_set, table, kinds):
    """Compare label, rule and probabilities with those of the rule set, in every place."""
    (databases, java), frame = places, as_polars(table, kinds)
    again = RuleSet.from_json(rule_set.to_json())
    assert again == rule_set
    np.testing.assert_array_equal(again.predict_proba(frame), rule_set.predict_proba(frame))
    for database in databases:
        test_sql.check(database, rule_set, table, kinds)
    for kind in test_python.KINDS:
        test_python.check(rule_set, kind, frame)
    writable = not any(re.search(test_pmml.unwritable, text) for text in _texts(rule_set, table))
    if writable:
        test_pmml.check(java, rule_set, table, kinds)


@pytest.mark.filterwarnings("ignore:y has fewer than min_support")
def test_fitted_models_give_one_answer_everywhere(places):
    sizes = []

    @settings(max_examples=200)
    @given(drawn=tables(), estimator=estimators())
    def one(drawn, estimator):
        table, kinds, y = drawn
        finite = {name: [None if v in (math.inf, -math.inf) else v for v in values] for name, values in table.items()}
        rule_set = estimator.fit(as_polars(finite, kinds), y).rule_set_
        sizes.append(len(rule_set))
        check_everywhere(places, rule_set, table, kinds)

    one()
    assert len(sizes) >= 200
    assert np.mean(np.array(sizes) > 1) > 0.5  # rules were found, so that there was something to compare
    assert max(sizes) > 5


class Known(Condition):
    """A condition of a user's own."""

    def holds(self, column):
        return ~column.missing

    def __str__(self):
        return f"{self.column} is known"


@pytest.mark.parametrize(
    ("language", "write"),
    [
        ("JSON", RuleSet.to_json),
        ("SQL", RuleSet.to_sql),
        ("PMML", RuleSet.to_pmml),
        *(("Python", lambda rules, kind=kind: rules.to_python(kind=kind)) for kind in test_python.KINDS),
    ],
)
def test_conditions_of_a_users_own_class_are_refused(language, write):
    rules = RuleSet((Rule((Known("age"),), "good"),), ("bad", "good"), "bad", (5, 5), (5, 1))
    with pytest.raises(TypeError, match=rf"cannot write the condition age is known \(Known\) as {language}"):
        write(rules)
