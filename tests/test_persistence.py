"""Models kept by pickle and by skops: the same rules and the same answers afterwards."""

import pickle

import numpy as np
import pytest
import skops.io

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, baselines

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


@pytest.mark.parametrize("keep", [lambda clf: pickle.loads(pickle.dumps(clf)), by_skops], ids=["pickle", "skops"])
@pytest.mark.parametrize("clf", MODELS, ids=lambda clf: type(clf).__name__)
def test_a_kept_model_is_the_same(mixed, clf, keep):
    X, y = mixed
    clf.fit(X, y)
    again = keep(clf)
    assert again.rule_set_ == clf.rule_set_
    assert again.rule_set_.to_json() == clf.rule_set_.to_json()
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
