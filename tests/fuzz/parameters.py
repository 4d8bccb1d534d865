"""Random estimators and parameters; the value of a parameter is Python source."""

import datetime
import math
import numbers
import sys

import numpy as np

from .names import is_doubtful, is_same
from .values import is_missing, source

CONFLICTS = ("smoothed", "precision", "f1", "first", "vote", "counts")
# Parameters that a fit may refuse because of the table or of each other.
MAY_BE_REFUSED = ("given_rules", "monotone", "binning", "required", "class_weight", "max_candidates", "max_conditions")
MAY_BE_REFUSED += ("scorecards", "missing_values")


# Values that are wrong for some or all parameters: an error must name the parameter.
WRONG_VALUES = (
    *("None", "-1", "0", "0.5", "float('nan')", "float('inf')", "-(10**400)", "'x'", "''", "[]", "{}", "()", "True"),
    *("object()", "np.int64(-3)", "np.float32(0.5)", "b'a'", "(1, 2)", "np.array([1, 2])", "[None]", "{None: None}"),
    *(
        "pd.NA",
        "pd.NaT",
        "{'a': 'x'}",
        "[[]]",
        "['a', 'a']",
        "{'a': [2, 1]}",
        "{'a': []}",
        "'a\\nb'",
        "lambda: 0",
        "1j",
    ),
    *("Decimal('1.5')", "Fraction(1, 2)", "np.datetime64('2020-01-01')", "[Rule((), 'x')]", "['IF a THEN b']", "-0.0"),
)


def estimator_of(draw, columns, labels):
    """Return the name of a class, and parameters that suit a table; sometimes one has a wrong value."""
    name, parameters = _estimator(draw, columns, labels)
    if draw.chance(0.2):
        parameters["missing_values"] = _missing_values(draw, columns)
    if draw.chance(0.04):
        chosen = draw.pick([*parameters, *(_ALL if name != "IDSClassifier" and "Rule" in name else ())])
        parameters[chosen] = draw.pick(WRONG_VALUES)
    return name, parameters


def _missing_values(draw, columns):
    """Return codes for missing values as source: values of columns, for all columns or for one."""
    column = draw.pick(columns)
    known = [
        value for value in column.values if isinstance(value, str | bool | numbers.Real | datetime.datetime | bytes)
    ]
    codes = source(draw.some(known, draw.between(1, 3)) if known else [-9, "?"])
    return codes if draw.chance(0.6) else f"{{{source(column.name)}: {codes}}}"


_ALL = ("max_rules", "max_conditions", "max_overlap", "min_support", "conflict", "binning", "default", "given_rules")
_ALL += ("forbidden", "required", "monotone", "random_state", "n_jobs", "class_weight", "smoothing", "min_evidence")
_ALL += ("max_fallbacks", "negation", "scorecards", "max_signs", "missing_values")


def _estimator(draw, columns, labels):
    """Return the name of a class, and parameters that suit a table."""
    kind = draw.below(100)
    if kind < 75:
        parameters = {**_shared(draw, columns, labels), **_diverse(draw, labels)}
        parameters |= _scorecards(draw, columns, labels, parameters)
        name = "DiverseRuleSetClassifier"
    elif kind < 88:
        parameters, name = {**_shared(draw, columns, labels), **_paper(draw)}, "DRSClassifier"
    else:
        name = draw.pick(("CBAClassifier", "CN2Classifier", "IDSClassifier"))
        parameters = _baseline(draw, name)
    return name, parameters


def _shared(draw, columns, labels):
    chosen = {"random_state": source(draw.below(1000))}

    def maybe(name, probability, options):
        if draw.chance(probability):
            chosen[name] = source(draw.pick(options))

    maybe("max_rules", 0.2, (0, 1, 2, 5, 200))
    maybe("max_conditions", 0.3, (None, 1, 2, 3, 10))
    by_label = {"agree": 0.5, "contradict": 0.02}, {"agree": 1}, {"contradict": 0.3}
    maybe("max_overlap", 0.5, (0, 0.0, 0.05, 0.5, 1.0, *by_label))
    maybe("min_support", 0.5, (1, 1, 2, 5, 1000))
    maybe("conflict", 0.5, CONFLICTS)
    maybe("binning", 0.3, ("uniform", "quantile", "supervised"))
    maybe("default", 0.2, ("majority", "least_covered", *labels[:2]))
    if draw.chance(0.02):
        chosen["conflict"] = "lambda rules: rules[-1]"
    if draw.chance(0.15):
        chosen.update(_constraints(draw, columns, labels))
    return chosen


def _constraints(draw, columns, labels):
    found = {}
    taken = draw.some([column.name for column in columns], 3)
    if draw.chance(0.4):
        found["forbidden"] = source(taken[:1])
    if draw.chance(0.3):
        found["required"] = source(taken[-1:])
    if draw.chance(0.3):
        direction = draw.pick(("increasing", "decreasing"))
        found["monotone"] = source({taken[0]: {labels[0]: direction} if draw.chance(0.7) else direction})
    if draw.chance(0.3):
        found["given_rules"] = "[" + ", ".join(_rule(draw, columns, labels) for _ in range(draw.between(1, 2))) + "]"
    if draw.chance(0.2):
        column = draw.pick(columns)
        edges = sorted({v for v in column.values if type(v) in (int, float) and v == v})[:3]
        found["binning"] = source({column.name: edges if edges and draw.chance(0.7) else "quantile"})
    return found


def _rule(draw, columns, labels):
    """Return a given rule as source: a rule about a value of a column, or about missing values."""
    known = [label for label in labels if _can_be_label(label)]
    if not known:
        return "Rule((), 'a')"
    column, label = draw.pick(columns), source(draw.pick(known))
    if is_doubtful(column.name):
        return f"Rule((), {label})"
    condition = _condition(draw, column)
    return f"Rule((), {label})" if condition is None else f"Rule(({condition},), {label})"


def _condition(draw, column):
    """Return a condition as source: of a value of a column, or of missing values; None for some extreme values."""
    value, name = draw.pick(column.values), source(column.name)
    plain = isinstance(value, str | bool | numbers.Real | datetime.datetime) and value == value
    if not plain or draw.chance(0.3):
        return f"IsMissing({name})"
    number = value.item() if isinstance(value, np.floating) else value  # numpy warns where it cannot hold the limit
    if isinstance(number, numbers.Real) and abs(number) > sys.float_info.max:
        return None
    if isinstance(value, str | bool):
        return f"Equals({name}, {source(value)})"
    return f"Interval({name}, low={source(value)}, with_low=True)"


def _scorecards(draw, columns, labels, others):
    """Return the parameters of scorecards: none, learnt, or given ones, with given rules that test their points."""
    found, kind = {}, draw.below(100)
    if draw.chance(0.2):
        found["max_signs"] = source(draw.pick((1, 2, 3, 10, 40)))
    if kind < 45:
        return found | {"scorecards": source(draw.pick(("auto", "auto", "auto", 0, 1, 2, 3, None)))}
    usable = [column for column in columns if not is_doubtful(column.name)]
    usable = [one for j, one in enumerate(usable) if not any(is_same(one.name, other.name) for other in usable[:j])]
    # 0.0 and -0.0 are one label; True and 1 have different sources and types.
    known = list({(type(label), label): label for label in labels if _can_be_label(label)}.values())
    known = [label for label in known if isinstance(label, bool) == isinstance(known[0], bool)]
    known = [label for label in known if isinstance(label, str) == isinstance(known[0], str)]
    if kind >= 65 or not usable or not known:
        return found
    cards = [
        _scorecard(draw, usable, known, name)
        for name in draw.pick((("risk",), ("points",), ("risk", "other risk"), ("a",)))
    ]
    cards = [(card, given) for card, given in cards if card]
    if cards:
        found["scorecards"] = "[" + ", ".join(card for card, _ in cards) + "]"
        card, given = draw.pick(cards)
        if draw.chance(0.3):
            label = source(draw.pick(given))
            column = f"{card}.column()" if len(given) == 1 else f"{card}.column('points', {label})"
            bound = f"Interval({column}, low={draw.below(4)}, with_low=True)"
            leads = f"{card}.leads({label})"
            test = leads if len(given) > 1 and draw.chance(0.5) else bound
            rule = f"Rule(({test},), {source(draw.pick(known))})"
            before = others.get("given_rules", "[]").removesuffix("]")
            found["given_rules"] = f"{before}, {rule}]" if before.strip("[") else f"[{rule}]"
    return found


def _scorecard(draw, columns, labels, name):
    """Return a scorecard as source, with signs on columns of the table, and its labels."""
    chosen = draw.some(labels, draw.pick((1, 1, 2, 3)))
    conditions = {}
    for column in draw.some(columns, 4):  # signs on one column must test values of one type
        one_type = len({type(value) for value in column.values if not is_missing(value)}) == 1
        conditions |= {_condition(draw, column): None for _ in range(2 if one_type else 1)}
    signs = []
    for condition in [one for one in conditions if one is not None]:
        given = draw.some(chosen, draw.between(1, len(chosen)))
        points = ", ".join(f"{source(label)}: {draw.pick((1, 1, 2, 3, 9, -2, 400))}" for label in given)
        signs.append(f"Sign({condition}, {{{points}}})")
    base = f"{{{source(chosen[0])}: 1}}" if len(chosen) > 1 and draw.chance(0.5) else "{}"
    return f"Scorecard({name!r}, ({', '.join(signs)},), {source(tuple(chosen))}, {base})" if signs else "", chosen


def _can_be_label(label):
    """Return whether a rule may have a label: text, a boolean or a finite number."""
    return isinstance(label, str | bool | np.bool_) or (isinstance(label, numbers.Real) and math.isfinite(label))


def _diverse(draw, labels):
    chosen = {}

    def maybe(name, probability, options):
        if draw.chance(probability):
            chosen[name] = source(draw.pick(options))

    maybe("min_evidence", 0.6, (0.0, 0.0, 0.5, 2.0))
    maybe("max_fallbacks", 0.2, (0, 1, 30))
    maybe("class_weight", 0.3, (None, "balanced", {labels[0]: 3.0}))
    maybe("smoothing", 0.3, (None, 0.0, 0.5, 20.0))
    maybe("negation", 0.4, (True, False))
    return chosen


def _paper(draw):
    chosen = {"n_candidates": source(draw.pick((1, 5, 20, 60)))}

    def maybe(name, probability, options):
        if draw.chance(probability):
            chosen[name] = source(draw.pick(options))

    maybe("measure", 0.3, ("triples",))
    maybe("diversity", 0.4, ("strict", "permissive", "none", 0.5))
    maybe("min_recall_gain", 0.3, (0.0, 0.1, 1.0))
    maybe("second_pass", 0.3, (False,))
    maybe("n_bins", 0.3, (2, 3, 20))
    return chosen


def _baseline(draw, name):
    chosen = {"max_conditions": source(draw.pick((1, 2)))}
    if draw.chance(0.5):
        chosen["conditions"] = source(draw.pick(("thresholds", "bins")))
    if draw.chance(0.3):
        chosen["binning"] = source(draw.pick(("uniform", "quantile")))
    if draw.chance(0.3):
        chosen["max_rules"] = source(draw.pick((0, 1, 3)))
    if name == "CN2Classifier":
        chosen["min_covered"] = source(draw.pick((1, 5)))
    else:
        chosen["max_candidates"] = source(draw.pick((50, 500)))
    if name == "IDSClassifier":
        chosen["random_state"] = "0"
        chosen["search"] = source(draw.pick(("deterministic", "smooth")))
    return chosen
