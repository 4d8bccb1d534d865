"""Random rule sets with scorecards, of one label and of several, and tables for them."""

from hypothesis import strategies as st

from diverse_rule_sets import Rule, RuleSet, Scorecard, Sign
from models import conditions_on, consistent_counts, rules_over, values_of

SIMPLE_KINDS = ("number", "text", "boolean", "date")
CLASSES = st.sampled_from([["bad", "good"], ["a, b", "c", "for"], [0, 1, 2], [False, True]])


@st.composite
def scorecards_over(draw, name, columns, classes):
    """Draw a scorecard with signs on some of the columns, for one label or for several."""
    labels = draw(st.lists(st.sampled_from(classes), min_size=1, max_size=len(classes), unique=True))
    points = st.integers(-2, 4).filter(bool)
    signs = {}
    for _ in range(draw(st.integers(1, 5))):
        column = draw(st.sampled_from(sorted(columns)))
        condition = draw(conditions_on(column, *columns[column]))
        given = draw(st.lists(st.sampled_from(labels), min_size=1, max_size=len(labels), unique=True))
        signs[condition] = Sign(condition, {label: draw(points) for label in given})
    base = {label: draw(points) for label in labels if draw(st.integers(0, 3)) == 0} if len(labels) > 1 else {}
    return Scorecard(name, tuple(signs.values()), tuple(labels), base)


@st.composite
def conditions_on_scorecard(draw, card):
    """Draw a condition on one of the derived columns of a scorecard."""
    column = draw(st.sampled_from(card.derived_columns()))
    if column.part == "leader":
        return card.leads(draw(st.sampled_from(card.labels)))
    low, high = column.range
    bounds = sorted([draw(st.integers(low, high)), draw(st.integers(low, high))])
    shape = draw(st.sampled_from(["low", "high", "both"]))
    limits = (None if shape == "high" else bounds[0], None if shape == "low" else bounds[1])
    return card.lead_between(*limits) if column.part == "lead" else card.between(*limits, column.label)


@st.composite
def scorecard_rules(draw, cards, columns, classes, min_cards=0):
    """Draw a rule that may test scorecards."""
    rule = draw(rules_over(columns, classes))
    body = {condition.column: condition for condition in rule.conditions[:1]}
    for card in draw(st.lists(st.sampled_from(cards), min_size=min_cards, max_size=2)):
        condition = draw(conditions_on_scorecard(card))
        body[condition.column] = condition
    return Rule(tuple(body.values()), rule.label, rule.class_counts)


@st.composite
def scorecard_rule_sets(draw, conflicts=("first", "precision", "vote", "counts"), kinds=SIMPLE_KINDS, max_columns=4):
    """Draw a rule set in which rules test scorecards, and the pools of values of its columns."""
    names = ["x", "y z", "`q`", "income"][:max_columns]
    columns = {}
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=max_columns, unique=True)):
        kind = draw(st.sampled_from(kinds))
        columns[name] = (kind, draw(values_of(kind))[:3])
    classes = draw(CLASSES)
    cards = [draw(scorecards_over(name, columns, classes)) for name in ("points", "risk")[: draw(st.integers(1, 2))]]
    last = draw(scorecard_rules(cards, columns, classes, min_cards=1))
    rules = (*draw(st.lists(scorecard_rules(cards, columns, classes), max_size=4)), last)
    fallbacks = tuple(draw(st.lists(scorecard_rules(cards, columns, classes), max_size=2)))
    many = len(classes)
    totals, uncovered = consistent_counts(rules, fallbacks, classes, [9] * many, [9] * many)
    rule_set = RuleSet(
        rules, tuple(classes), draw(st.sampled_from(classes)), totals, uncovered,
        draw(st.sampled_from(conflicts)), fallbacks, kinds=tuple((name, kind) for name, (kind, _) in columns.items()),
    )  # fmt: skip
    return rule_set, columns
