"""Uses the public names with types, as a user's program would; mypy checks it against the installed package."""

from sklearn.datasets import load_iris  # type: ignore[import-untyped]

from diverse_rule_sets import (
    DiverseRuleSetClassifier,
    DiversityPath,
    DRSClassifier,
    Interval,
    IsMissing,
    Rule,
    RuleSet,
    Scorecard,
    Sign,
    diversity_path,
    metrics,
)
from diverse_rule_sets.baselines import CBAClassifier

X, y = load_iris(return_X_y=True)
clf = DiverseRuleSetClassifier(max_statements=4, random_state=0).fit(X, y)
rules: RuleSet = clf.rule_set_
first: Rule = rules[0]
text: str = rules.to_json()
again: RuleSet = RuleSet.from_json(text)
edited: RuleSet = again.without_rule(1, X, y)
query: str = edited.to_sql(dialect="duckdb", table="t")
share: float = metrics.overlap_share(rules, X)
size: metrics.Size = metrics.size(rules)
path: DiversityPath = diversity_path(clf, X, y)
parsed: Rule = Rule.parse("IF age > 3 THEN yes")
rule = Rule((Interval("age", low=3), IsMissing("income")), "yes")
card: Scorecard = Scorecard("risk", (Sign(Interval("age", low=3), {"yes": 2}),), ("yes",))
other: DRSClassifier = DiverseRuleSetClassifier.as_in_paper()
base = CBAClassifier().fit(X, y)
