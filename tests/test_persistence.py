"""Models kept by pickle and by skops: the same rules and the same answers afterwards."""

import copy
import pickle

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.base import clone

import diverse_rule_sets
from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, RuleSet, baselines

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
