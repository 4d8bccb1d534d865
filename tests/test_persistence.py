"""Models kept by pickle and by skops: the same rules and the same answers afterwards."""

import copy
import pickle

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.base import clone

import diverse_rule_sets
from diverse_rule_sets import (
    DiverseRuleSetClassifier,
    DRSClassifier,
    Equals,
    Interval,
    IsIn,
    IsMissing,
    Rule,
    RuleSet,
    Scorecard,
    Sign,
    baselines,
)

MODELS = [
    DiverseRuleSetClassifier(random_state=0, given_rules=["IF age > 80 THEN good"], monotone={"age": "increasing"}),
    DRSClassifier(random_state=0, n_candidates=50),
    baselines.CBAClassifier(),
    baselines.CN2Classifier(),
    baselines.IDSClassifier(),
]


def by_skops(clf):
    """Keep and read as a careful user does: look at the types, then trust them."""
    kept = skops.io.dumps(clf)
    types = skops.io.get_untrusted_types(data=kept)
    assert all(name.startswith("diverse_rule_sets.") or name == "datetime.datetime" for name in types)
    return skops.io.loads(kept, trusted=types)


KEEP = {
    "pickle": lambda clf: pickle.loads(pickle.dumps(clf)),
    "skops": by_skops,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("keep", KEEP.values(), ids=KEEP)
@pytest.mark.parametrize("clf", MODELS, ids=lambda clf: type(clf).__name__)
def test_a_kept_model_is_the_same(mixed, clf, keep):
    X, y = mixed
    clf.fit(X, y)
    again = keep(clf)
    assert again.rule_set_ == clf.rule_set_
    assert again.rule_set_.to_json() == clf.rule_set_.to_json()
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


def rule_sets_with_scorecards(X, y):
    """Return rule sets on scorecards with labels of every type, one label or several, and tables by points."""
    signs = [(Interval("age", low=60), 3), (Equals("sex", "F"), 2), (IsMissing("size"), -1)]
    for labels in (("bad", "good"), (0, 1), (1.5, 2.5), (False, True)):
        codes = (np.asarray(y) == "good").astype(int)
        one = Scorecard("points", tuple(Sign(condition, {labels[1]: n}) for condition, n in signs))
        given = tuple(Sign(condition, {labels[n > 2]: n, labels[n <= 2]: 1}) for condition, n in signs)
        both = Scorecard("risk", given, labels, {labels[0]: 1})
        rules = (
            Rule((one.between(3), IsIn("smoker", (True,))), labels[1]),
            Rule((both.leads(labels[1]), both.lead_between(1), both.between(0, 4, labels[0])), labels[1]),
        )
        fallbacks = (Rule((both.leads(labels[0]),), labels[0]),)
        rule_set = RuleSet(rules, labels, labels[0], (0, 0), (0, 0), fallbacks=fallbacks)
        yield rule_set.evaluated(X, [labels[code] for code in codes])


@pytest.mark.parametrize("keep", KEEP.values(), ids=KEEP)
def test_rule_sets_and_classifiers_with_scorecards_are_kept(mixed, keep):
    X, y = mixed
    for rule_set in rule_sets_with_scorecards(X, y):
        assert rule_set.follows_points
        assert hash(rule_set) == hash(keep(rule_set))  # the hash is computed first, and must not be kept with it
        again = keep(rule_set)
        assert again == rule_set
        assert again.scorecards == rule_set.scorecards
        types = [[type(label) for label in card.labels] for card in again.scorecards]
        assert types == [[type(label) for label in card.labels] for card in rule_set.scorecards]
        assert again.to_json() == rule_set.to_json()
        assert str(again) == str(rule_set)
        np.testing.assert_array_equal(again.predict_proba(X), rule_set.predict_proba(X))
        for card in rule_set.scorecards:
            assert keep(card) == card
            assert keep(card.column("points", card.labels[0])) == card.column("points", card.labels[0])
    clf = DiverseRuleSetClassifier(random_state=0, max_rules=1).fit(X, y)
    clf.rule_set_ = next(rule_sets_with_scorecards(X, y))
    again = keep(clf)
    assert again.rule_set_ == clf.rule_set_
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    np.testing.assert_array_equal(again.predict_proba(X), clf.rule_set_.predict_proba(X))


def test_joblib_and_clone(mixed, tmp_path):
    X, y = mixed
    clf = MODELS[0].fit(X, y)
    joblib.dump(clf, tmp_path / "clf.joblib")
    assert joblib.load(tmp_path / "clf.joblib").rule_set_ == clf.rule_set_
    fresh = clone(clf)
    assert not hasattr(fresh, "rule_set_")
    assert fresh.fit(X, y).rule_set_ == clf.rule_set_
    assert not any("version" in name for name in vars(clf))
    assert not any("version" in name for name in vars(pickle.loads(pickle.dumps(clf))))


def test_a_pickle_of_another_version_is_an_error_that_says_what_to_do(mixed, monkeypatch):
    X, y = mixed
    clf = DiverseRuleSetClassifier(random_state=0, max_rules=1)
    pickles = [pickle.dumps(clf), pickle.dumps(clf.fit(X, y)), pickle.dumps(clf.rule_set_)]
    by_skops_file = skops.io.dumps(clf)
    text = clf.rule_set_.to_json()
    monkeypatch.setattr(diverse_rule_sets, "__version__", "9.9.9")
    message = r"pickled by version 0\.2\S* of diverse-rule-sets .* 9\.9\.9: fit it again; or .*RuleSet\.from_json"
    for kept in pickles:
        with pytest.raises(ValueError, match=message):
            pickle.loads(kept)
    with pytest.raises(ValueError, match=message):
        skops.io.loads(by_skops_file, trusted=skops.io.get_untrusted_types(data=by_skops_file))
    assert RuleSet.from_json(text).to_json() == text
