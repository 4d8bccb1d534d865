"""The parameter max_seconds: wherever the time ends, the rules are valid, and nothing else changes.

The clock of these tests advances by one second whenever the search asks whether time is left. So ``max_seconds=k`` ends
the search at its k-th question, which may be in any of its parts.
"""

import sys
import warnings
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from conftest import make_mixed
from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, diversity_path, metrics
from diverse_rule_sets.learn import _deadline
from diverse_rule_sets.learn._deadline import NO_DEADLINE, Deadline, OutOfTimeError
from test_sample_weight import three_classes

# How many questions of each fit are tried, beside the first ones.
N_TRIED, N_FIRST = 25, 12


class Clock:
    """Counts the questions, and in which functions they were asked."""

    def __init__(self):
        self.now = 0
        self.asked = Counter()

    def monotonic(self):
        self.now += 1
        frame = sys._getframe(1)
        while frame.f_code.co_filename == _deadline.__file__:
            frame = frame.f_back
        self.asked[f"{frame.f_code.co_filename.rpartition('/')[2][:-3]}.{frame.f_code.co_name}"] += 1
        return float(self.now)


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(_deadline, "time", SimpleNamespace(monotonic=found.monotonic))
    return found


def mixed(n=500, seed=4):
    table, y = make_mixed(n, seed)
    return pd.DataFrame(table), y


def weak_signs(n=900, seed=2):
    """Return a table in which many weak signs add up, so that scorecards are learnt, and a conjunction."""
    rng = np.random.default_rng(seed)
    signs = rng.random((n, 8))
    score = (signs < 0.5).sum(axis=1) + rng.normal(0, 1, n)
    both = (signs[:, 0] > 0.7) & (signs[:, 1] > 0.6)
    X = pd.DataFrame({f"x{j}": signs[:, j].round(2) for j in range(8)})
    return X, np.where((score > 4.5) ^ both, "yes", "no")


GIVEN = ["IF x0 > 0.9 THEN no"]
CASES = {
    "mixed": (mixed, DiverseRuleSetClassifier, {}),
    "points": (weak_signs, DiverseRuleSetClassifier, {}),
    "plain": (weak_signs, DiverseRuleSetClassifier, {"scorecards": None, "max_overlap": 0.3}),
    "statements": (weak_signs, DiverseRuleSetClassifier, {"scorecards": None, "max_statements": 4}),
    "by label": (weak_signs, DiverseRuleSetClassifier, {"max_overlap": {"agree": 0.4}, "min_support": 9}),
    "given": (weak_signs, DiverseRuleSetClassifier, {"given_rules": GIVEN, "max_statements": 3, "forbidden": ["x2"]}),
    "free": (weak_signs, DiverseRuleSetClassifier, {"max_overlap": 1.0, "scorecards": None, "max_conditions": 2}),
    "classes": (three_classes, DiverseRuleSetClassifier, {"required": ["n"]}),
    "paper": (mixed, DRSClassifier, {"n_candidates": 30, "max_rules": 8, "max_overlap": 0.5}),
}


def check_limits(clf, rule_set, X):
    """Check all limits with the covers of single rules."""
    own = clf.get_params()
    assert len(rule_set) <= own["max_rules"]
    assert own.get("max_statements") is None or len(rule_set.all_rules) + 1 <= own["max_statements"]
    assert len(rule_set.fallbacks) <= own.get("max_fallbacks", 0)
    n_given = len(own["given_rules"] or ())
    assert [str(rule) for rule in rule_set.rules[:n_given]] == list(own["given_rules"] or ())
    earlier, overlap = [], own["max_overlap"]
    limits = {"agree": clf._missing_overlap, "contradict": clf._missing_overlap}
    limits |= overlap if isinstance(overlap, dict) else {}
    for j, rule in enumerate(rule_set.rules):
        covered = rule.covers(X)
        if j >= n_given:
            assert covered.sum() >= own["min_support"]
            columns = {condition.column for condition in rule.conditions}
            assert own["max_conditions"] is None or len(columns) <= own["max_conditions"]
            assert not columns & set(own["forbidden"] or ())
            assert columns >= set(own["required"] or ())
            for kind, share in limits.items() if isinstance(overlap, dict) else ():
                others = [some for label, some in earlier if (label == rule.label) == (kind == "agree")]
                assert (covered & np.any([*others, ~covered & False], axis=0)).sum() <= share * covered.sum()
            if not isinstance(overlap, dict):
                union = np.any([*(some for _, some in earlier), np.zeros(len(X), bool)], axis=0)
                assert (covered & union).sum() <= overlap * covered.sum()
        earlier.append((rule.label, covered))


def check_valid(clf, X, y):
    """Check the limits, and all counts against those of the records."""
    rule_set = clf.rule_set_
    check_limits(clf, rule_set, X)
    with warnings.catch_warnings(action="ignore"):
        assert rule_set.evaluated(X, y).to_json() == rule_set.to_json()
    assert len(clf.history_) == len(rule_set)
    assert clf.lambda_ >= 0
    assert np.isfinite(clf.objective_)
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1)
    assert set(clf.predict(X)) <= set(clf.classes_)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:no rule was found within:UserWarning")
def test_rules_are_valid_wherever_the_time_ends(name, clock):
    table, make, parameters = CASES[name]
    (X, y), whole = table(), make(random_state=0, **parameters)
    limited = make(random_state=0, max_seconds=10**6, **parameters).fit(X, y)
    n_asked = clock.now
    assert limited.rule_set_.to_json() == whole.fit(X, y).rule_set_.to_json()
    assert (limited.stopped_early_, whole.stopped_early_) == (False, False)
    check_valid(whole, X, y)
    rng = np.random.default_rng(0)
    tried = {*range(1, N_FIRST), n_asked - 2, *rng.integers(1, n_asked - 1, N_TRIED).tolist()}
    for k in sorted(tried):
        clf = make(random_state=0, max_seconds=k, **parameters)
        with pytest.warns(
            ConvergenceWarning, match=rf"the search stopped early, after max_seconds={k}: (the res|no r)"
        ):
            clf.fit(X, y)
        assert clf.stopped_early_
        check_valid(clf, X, y)


def test_every_part_of_the_search_asks(clock):
    for table, make, parameters in CASES.values():
        make(random_state=0, max_seconds=10**6, **parameters).fit(*table())
    parts = {
        "_scorecards": ["cross_fitted_losses"],
        "_points": ["grow", "choose_again"],
        "_default_search": ["first_pass", "choose_again"],
        "_local_search": ["improve"],
        "_selection": ["candidates_to_remove"],
        "_splitting": ["split"],
        "_growth": ["grow"],
        "_merging": ["merge"],
        "_improvement": ["refined", "reduced"],
        "_set_search": ["_estimates"],
        "_learner": ["_best_of_searches", "within"],
        "_fallbacks": ["find_fallbacks"],
        "_paper_search": ["search", "_first_pass", "_lambda"],
    }
    for module, functions in parts.items():
        asked = [name for name in functions if clock.asked[f"{module}.{name}"]]
        assert asked, module
        assert asked == functions


def test_more_time_gives_more_rules(clock):
    X, y = weak_signs()
    parameters = {"random_state": 0, "scorecards": None}
    DiverseRuleSetClassifier(**parameters, max_seconds=10**6).fit(X, y)
    seconds = np.linspace(1, clock.now - 2, 8).astype(int)
    with warnings.catch_warnings(action="ignore"):
        found = [DiverseRuleSetClassifier(**parameters, max_seconds=int(k)).fit(X, y) for k in seconds]
    accuracies = [clf.score(X, y) for clf in found]
    assert len(found[0].rule_set_) == 0
    assert accuracies[-1] == max(accuracies) > accuracies[0] + 0.1


def test_weights_and_sources_stop_too(clock):
    X, y = weak_signs()
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    copies = X.loc[X.index.repeat(weights)].reset_index(drop=True), np.repeat(y, weights)
    frame = X.assign(y=y, w=weights)
    for k in (5, 40, 90, 200):
        clf, expected = (DiverseRuleSetClassifier(random_state=0, max_seconds=k) for _ in range(2))
        with pytest.warns(ConvergenceWarning):
            clf.fit([frame[:100], frame[100:]], "y", "w")
        with pytest.warns(ConvergenceWarning):
            expected.fit(*copies)  # asks as often
        assert clf.rule_set_.rules == expected.rule_set_.rules
        check_valid(clf, *copies)


def test_the_path_with_too_little_time(clock):
    X, y = weak_signs(300)
    clf = DiverseRuleSetClassifier(random_state=0, max_seconds=30)
    with pytest.warns(ConvergenceWarning, match="the search stopped early"):
        path = diversity_path(clf, X, y, max_statements=[2, 4, None], cv=3)
    assert [point.statements <= (point.max_statements or 41) for point in path] == [True] * 3


def test_a_warning_that_is_an_error_leaves_the_estimator_as_it_was():
    X, y = weak_signs()
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)
    before = dict(vars(clf.set_params(max_seconds=1e-9)))
    with warnings.catch_warnings(action="error"), pytest.raises(ConvergenceWarning, match="no rule was found"):
        clf.fit(X, y)
    assert vars(clf) == before


def test_the_real_clock_ends_a_fit_and_gives_others_time_enough():
    X, y = weak_signs()
    with pytest.warns(ConvergenceWarning, match=r"after max_seconds=0\.0001: "):
        assert DiverseRuleSetClassifier(random_state=0, max_seconds=1e-4).fit(X, y).stopped_early_
    clf = DiverseRuleSetClassifier(random_state=0, max_seconds=1e6).fit(X, y)
    assert not clf.stopped_early_
    assert metrics.size(clf.rule_set_).statements > 2


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, "1", True, [1]])
@pytest.mark.parametrize("make", [DiverseRuleSetClassifier, DRSClassifier])
def test_bad_values(make, value):
    with pytest.raises((TypeError, ValueError), match="max_seconds must be"):
        make(max_seconds=value).fit([[1], [2]], [0, 1])


def test_a_deadline_stays_passed(clock):
    deadline = Deadline(2)
    assert [deadline.passed() for _ in range(4)] == [False, True, True, True]
    assert deadline.stopped
    with pytest.raises(OutOfTimeError):
        deadline.check()
    assert list(deadline.until([1, 2])) == []
    assert list(NO_DEADLINE.until([1, 2])) == [1, 2]
    assert not NO_DEADLINE.passed()


def test_the_option(drs, tmp_path):
    X, y = weak_signs()
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.json"
    code, _, err = drs("fit", tmp_path / "t.csv", "-t", "y", "--max-seconds", "0.000001", "-o", model)
    assert code == 0
    assert "the search stopped early, after max_seconds=1e-06: no rule was found" in " ".join(err.split())
    assert model.exists()
    code, _, err = drs("fit", tmp_path / "t.csv", "-t", "y", "--max-seconds", "0")
    assert (code, "--max-seconds must be" in err) == (2, True), err
