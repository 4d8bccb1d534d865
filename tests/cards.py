"""Random scorecards, and rule sets whose rules test them."""

import math

from hypothesis import reject
from hypothesis import strategies as st

from diverse_rule_sets import Equals, Interval, PointsTable, Rule, RuleSet, Scorecard, Sign
from diverse_rule_sets.model._point_probabilities import followed_column
from models import TEXTS, conditions_on, rule_sets

NAMES = (
    st.sampled_from(["points", "points (2)", "risk", "lead", "most points", "for a", "IF", "a: b", "`", "2"]) | TEXTS
)
POINTS = st.integers(1, 9) | st.integers(-3, -1)


@st.composite
def scorecards(draw, conditions, classes, names=NAMES):
    """Draw a scorecard for some of the classes; ``conditions`` is a strategy of lists of conditions on the table."""
    labels = draw(st.lists(st.sampled_from(classes), min_size=1, max_size=4, unique=True))
    labels = labels if draw(st.booleans()) else labels[:1]
    given = {
        condition: draw(st.lists(st.sampled_from(labels), min_size=1, unique=True)) for condition in draw(conditions)
    }
    signs = tuple(Sign(one, {label: draw(POINTS) for label in some}) for one, some in given.items())
    always = draw(st.lists(st.sampled_from(labels), unique=True)) if len(labels) > 1 else []
    try:
        return Scorecard(draw(names), signs, tuple(labels), {label: draw(POINTS) for label in always})
    except (TypeError, ValueError):  # no sign, an empty name, or values of several types in one column
        reject()


@st.composite
def conditions_on_card(draw, card):
    """Draw conditions on a scorecard, at most one on each of its derived columns."""
    chosen = draw(st.lists(st.sampled_from(range(len(card.derived_columns()))), min_size=1, max_size=3, unique=True))
    made = []
    for k in chosen:
        column = card.derived_columns()[k]
        if not column.counts_points:
            made.append(Equals(column, draw(st.sampled_from(card.labels))))
            continue
        low, high = column.range
        ends = sorted(draw(st.tuples(*[st.integers(low - 2, high + 2)] * 2)))
        shape = draw(st.sampled_from(["low", "high", "both"]))
        made.append(
            Interval(column, None if shape == "high" else ends[0], None if shape == "low" else ends[1], with_low=True)
        )
    return made


@st.composite
def tables_for(draw, rule, n_classes):
    """Draw the class probabilities by points of a rule; None if it follows no points."""
    followed = followed_column(rule.conditions)
    if followed is None or not draw(st.booleans()):
        return None
    low, high = followed[0].range
    low = draw(st.integers(low, high))
    rows = []
    for _ in range(draw(st.integers(1, min(high - low + 1, 4)))):
        weights = draw(st.lists(st.integers(0, 9), min_size=n_classes, max_size=n_classes).filter(any))
        rows.append(tuple(w / math.fsum(weights) for w in weights))
    return PointsTable(followed[0], low, tuple(rows))


@st.composite
def rule_sets_with_scorecards(draw, **options):
    """Draw a rule set with scorecards, and the pools of values of its columns, as ``models.rule_sets`` does."""
    rule_set, columns = draw(rule_sets(**options))
    on_table = [conditions_on(name, *columns[name]) for name in sorted(columns)]
    plain = st.lists(st.one_of(on_table), min_size=1, max_size=5, unique=True)
    cards = draw(st.lists(scorecards(plain, rule_set.classes), min_size=1, max_size=2))
    some = [draw(_with_tests(rule, cards, rule_set)) for rule in rule_set.all_rules]
    empty = Rule((), rule_set.default, tuple((label, draw(st.integers(0, 40))) for label in rule_set.classes))
    some.insert(0, draw(_with_tests(empty, cards, rule_set, always=True)))
    n_rules = len(rule_set.rules) + 1
    kinds = tuple((name, kind) for name, (kind, _) in columns.items())
    try:
        made = RuleSet(
            tuple(some[:n_rules]), rule_set.classes, rule_set.default, rule_set.class_totals,
            rule_set.uncovered_counts, rule_set.conflict, tuple(some[n_rules:]), rule_set.class_weights,
            rule_set.smoothing, kinds,
        )  # fmt: skip
    except ValueError:  # two scorecards or a scorecard and a column have one name
        reject()
    return made, columns


@st.composite
def _with_tests(draw, rule, cards, rule_set, always=False):
    """Draw a rule with conditions on a scorecard added at a random place."""
    if not always and not draw(st.booleans()):
        return rule
    tests = draw(conditions_on_card(draw(st.sampled_from(cards))))
    place = draw(st.integers(0, len(rule.conditions)))
    body = (*rule.conditions[:place], *tests, *rule.conditions[place:])
    longer = Rule(body, rule.label, rule.class_counts)
    return Rule(body, rule.label, rule.class_counts, draw(tables_for(longer, len(rule_set.classes))))
