"""Damaged model files: reading one is a ValueError of one line, or gives a rule set that works."""

import contextlib
import json
import math
import re

import numpy as np
import pandas as pd

from diverse_rule_sets import RuleSet
from diverse_rule_sets.export._json_reading import checksum
from diverse_rule_sets.model._condition_base import plain_conditions

from .models import corpus
from .outcome import CaseError, CheckError, is_one_line, watched_warnings
from .values import HOSTILE, SURROGATES, Draw

MAX_ERROR = 1000  # characters of an error
# JSON text in place of a value; json.dumps could not write most of them.
RAW = (
    *("5e-324", "1e308", "-1e308", "1e400", "-0.0", "1" + "0" * 400, "1" + "0" * 5000, "0.1", "2" * 20, "-1", "NaN"),
    *("Infinity", "-Infinity", "01", "1e-400", "9007199254740993", "1.0", "null", "true", "false", '""', "[]", "{}"),
    *('"\\ud800"', '"\\u0000"', '"' + "x" * 5000 + '"', "[" * 50 + "]" * 50, '{"a": ' * 40 + "1" + "}" * 40),
    *('{"number": "inf"}', '{"number": "nan"}', '{"date": "2020-01-31"}', '{"datetime": "2020-01-31T00:00:00"}'),
    *('{"instant": "2020-01-31T00:00:00"}', '{"instant": "0001-01-01T00:00:00+23:59"}', '{"date": "0000-00-00"}'),
    *('{"bytes": "00ff"}', '{"bytes": "0"}', '{"tuple": [1, "a"]}', '{"tuple": []}', '{"tuple": [{"tuple": [[]]}]}'),
    *('{"datetime": "9999-12-31T23:59:59.999999"}', '{"instant": "9999-12-31T23:59:59.999999"}', '{"number": 1}'),
    *('1, "column": "z"', 'null, "classes": ["q"]', '[], "rules": []', '"a", "kind": "text"'),  # a key a second time
    *('{"datetime": "2020-01-31T00:00:00+01:00"}', '{"instant": "2020-W01-1"}', '{"tuple": [null, true, 1e400]}'),
)
_TOKENS = (
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\n",
    "\x00",
    "\ud800",
    "\u2028",
    "1e999",
    "\\u00",
    "//",
    "'",
    "\ufeff",
)
_MARK = "@raw {} raw@"


def make_file(seed, number):
    """Return the text of a model file with some changes: str or bytes."""
    draw = Draw(seed, 1, number)
    text = draw.pick(corpus())
    if draw.chance(0.8):
        content = json.loads(text)
        sum_ = content.pop("checksum")
        raws = []
        for _ in range(draw.pick((0, 1, 1, 2, 3))):
            _change_meaning(draw, content)
        for _ in range(draw.pick((0, 0, 0, 1, 2))):
            content = _change_tree(draw, content, raws)
        text = _dump(draw, content, raws, sum_)
    if draw.chance(0.25):
        if draw.chance(0.9):
            text = re.sub(r'"checksum": "[^"]*",\s*|,\s*"checksum": "[^"]*"', "", text)
        for _ in range(draw.pick((1, 1, 2, 4))):
            text = _change_text(draw, text)
    if draw.chance(0.2):
        octets = bytearray(text.encode("utf8", "surrogatepass"))
        for _ in range(draw.below(3)):
            if octets:
                octets[draw.below(len(octets))] ^= 1 << draw.below(8)
        return bytes(octets)
    return text


def _dump(draw, content, raws, sum_):
    """Return a tree as JSON text, with a right, a wrong or no checksum."""
    choice = draw.below(10)
    if isinstance(content, dict) and choice < 5 and not raws:
        with contextlib.suppress(TypeError, ValueError):
            content = {**content, "checksum": checksum(content)}
    elif isinstance(content, dict) and choice == 9:
        content = {**content, "checksum": sum_}
    text = json.dumps(content, ensure_ascii=draw.chance(0.5), indent=draw.pick((None, 2)))
    for k, raw in enumerate(raws):
        text = text.replace(json.dumps(_MARK.format(k)), raw)
    return text


def _paths(content, path=()):
    yield path
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield from _paths(value, (*path, key))


def _change_tree(draw, content, raws):
    """Return a tree with one change at a random place."""
    paths = list(_paths(content))
    path = draw.pick(paths[1:] or paths)
    if not path:
        return content
    content = json.loads(json.dumps(content))
    parent = _at(content, path[:-1])
    key, value = path[-1], parent[path[-1]]
    kind = draw.below(10)
    if kind < 4:
        raws.append(draw.pick(RAW))
        parent[key] = _MARK.format(len(raws) - 1)
    elif kind == 4:
        parent[key] = draw.pick(HOSTILE + SURROGATES)
    elif kind == 5:
        parent[key] = json.loads(json.dumps(_at(content, draw.pick(paths))))
    elif kind == 6:
        del parent[key]
    elif kind == 7 and isinstance(parent, list):
        parent.insert(draw.below(len(parent) + 1), json.loads(json.dumps(value)))
    elif kind == 8 and isinstance(parent, dict):
        parent[draw.pick(("extra", "if", "=", "in", "not in", "<", ">=", "missing", "mixed", "kind"))] = parent.pop(key)
    else:
        parent[key] = _other_value(draw, value)
    return content


_KINDS = ("number", "date", "date (UTC)", "boolean", "text", "category", "empty", "", "bytes", "category of numbers")
_KINDS += ("category of dates", "category of dates (UTC)")
_WEIGHTS = (5e-324, 1e-300, 1e-9, 1, 3, 1e9, 1e300, 1e308)
_VALUES = (
    *("a", "", 1, 1.0, True, False, 0, -0.0, 2**53, 2**53 + 1, 2**64, 1e308, 5e-324, None, {"number": "inf"}),
    *({"date": "2020-01-31"}, {"datetime": "2020-01-31T12:00:00.000001"}, {"instant": "2020-01-31T12:00:00"}),
    *({"bytes": "00ff"}, {"tuple": [1, "a"]}, {"datetime": "0001-01-01T00:00:00"}, {"instant": "9999-12-31T23:59:59"}),
)


def _change_meaning(draw, content):
    """Change a file so that it often stays readable: numbers, conditions, types of columns, rules."""
    if "scorecards" in content and draw.chance(0.6):
        _change_scorecards(draw, content)
        return
    rules = content["rules"] + content["fallbacks"]
    conditions = [condition for rule in rules for condition in rule["if"] if "column" in condition]
    n, kind = len(content["classes"]), draw.below(9)
    if kind == 0:
        content["class_weights"] = [1.0] * n
        content["class_weights"][draw.below(n)] = draw.pick(_WEIGHTS)
    elif kind == 1:
        content["smoothing"] = draw.pick((None, 0, 5e-324, 1e-300, 0.5, 1e9, 1e300))
    elif kind == 2:
        largest = draw.pick((2**53 // n, 10**6))
        content["class_totals"] = [largest] * n
        content["uncovered_counts"] = [draw.pick((0, 1, largest, 10**6 - 1)) for _ in range(n)]
    elif kind == 3 and rules:
        draw.pick(rules)["class_counts"] = [draw.pick((0, 0, 1, 240)) for _ in range(n)]
    elif kind == 4 and content["columns"]:
        draw.pick(content["columns"])["kind"] = draw.pick(_KINDS)
    elif kind == 5 and content["rules"]:
        content["rules"] = content["rules"] * 2
    elif kind == 6 and conditions:
        draw.pick(conditions)["mixed"] = draw.chance(0.8)
    elif conditions:
        condition = draw.pick(conditions)
        name = condition["column"]
        condition.clear()
        condition.update(column=name, **_any_test(draw))
    if kind == 8 and rules and conditions and draw.chance(0.3):
        draw.pick(rules)["if"].append({**draw.pick(conditions)})


def _change_scorecards(draw, content):
    """Change a scorecard, a condition on one, or a table so that a file often stays readable."""
    rules = content["rules"] + content["fallbacks"]
    tests = [condition for rule in rules for condition in rule["if"] if "scorecard" in condition]
    tables = [rule["points_table"] for rule in rules if "points_table" in rule]
    card, kind = draw.pick(content["scorecards"]), draw.below(9)
    sign = draw.pick(card["signs"])
    if kind == 0:
        draw.pick(sign["points"])[1] = draw.pick((1, 9, -1, 1000, -1000, 0, 1001, 1.0, 2**53, True))
    elif kind == 1:
        card["signs"].append({"if": {"column": sign["if"]["column"], **_any_test(draw)}, "points": sign["points"]})
    elif kind == 2:
        card["labels"] = draw.some(content["classes"], draw.below(4))
    elif kind == 3:
        card["base"] = [[draw.pick(content["classes"]), draw.pick((1, -5, 0))]]
    elif kind == 4 and len(content["scorecards"]) > 1:
        content["scorecards"] = draw.some(content["scorecards"], draw.pick((1, 2)))
    elif kind == 5 and tests:
        bounds = {draw.pick((">", ">=")): draw.between(-3, 9), draw.pick(("<", "<=")): draw.between(-3, 9)}
        draw.pick(tests).update(draw.pick((bounds, {"part": draw.pick(("points", "lead", "leader"))}, _any_test(draw))))
    elif kind == 6 and tests:
        draw.pick(tests).update({"part": "leader", "=": draw.pick(content["classes"])})
    elif kind == 7 and tables:
        draw.pick(tables)["low"] = draw.pick((0, 1, -1, 5, 2**70, 1.0))
    elif tables:
        table = draw.pick(tables)
        share = draw.pick((0, 1, 0.5, 0.1, 1e-300, -1, 1 + 1e-12, 1e308, 0.1 + 0.2))
        table["rows"][draw.below(len(table["rows"]))] = [share, *[(1 - share) / 2] * (len(content["classes"]) - 1)]


def _any_test(draw):
    """Return a random test of a condition, of any type."""
    test = draw.pick(("=", "in", "not in", "missing", "<", "<=", ">", ">=", "both"))
    if test == "both":
        return {draw.pick((">", ">=")): draw.pick(_VALUES), draw.pick(("<", "<=")): draw.pick(_VALUES)}
    if test in ("in", "not in"):
        return {test: draw.some(_VALUES, draw.below(5))}
    return {test: True if test == "missing" else draw.pick(_VALUES)}


def _at(content, path):
    for key in path:
        content = content[key]
    return content


def _other_value(draw, value):
    """Return a value near another one, or of another type."""
    if isinstance(value, bool):
        return draw.pick((not value, int(value), str(value), None))
    if isinstance(value, int | float):
        return draw.pick((value + 1, -value, value * 2, float(value), str(value), [value], None, True, 0))
    if isinstance(value, str):
        return draw.pick((value + " ", value.swapcase(), value[:-1], [value], {"date": value}, 1, None, True))
    return draw.pick((None, [], {}, 0, "x", True, [value]))


def _change_text(draw, text):
    """Return a text with one change at a random place."""
    if not text:
        return draw.pick(_TOKENS)
    i, kind = draw.below(len(text)), draw.below(9)
    j = min(len(text), i + draw.pick((1, 2, 5, 30, 200)))
    if kind == 0:
        return text[:i]
    if kind == 1:
        return text[:i] + text[j:]
    if kind == 2:
        return text[:j] + text[i:j] + text[j:]
    if kind == 3:
        return text[:i] + draw.pick(_TOKENS) + text[i:]
    if kind == 4:
        return f"{text[:i]}\\u{ord(text[i]) % 65536:04x}{text[i + 1 :]}"
    if kind in (5, 6):
        found = list(re.finditer(r"-?\d+(\.\d+)?(e-?\d+)?|\"[^\"]*\"", text))
        if found:
            one = draw.pick(found)
            return text[: one.start()] + draw.pick(RAW) + text[one.end() :]
    if kind == 7:
        lines = text.splitlines(keepends=True)
        a, b = draw.below(len(lines)), draw.below(len(lines))
        lines[a], lines[b] = lines[b], lines[a] if draw.chance(0.5) else lines[b]
        return "".join(lines)
    return text[:i] + chr(draw.pick((draw.below(128), draw.below(0x300), 0x1F600))) + text[i + 1 :]


def check_file(text, thorough=False):
    """Read a file. Return the outcome and the checks; raises CaseError."""
    with watched_warnings() as check_warnings:
        try:
            rule_set = RuleSet.from_json(text)
        except Exception as error:
            if type(error) is not ValueError or not is_one_line(error) or len(str(error)) >= MAX_ERROR:
                raise CaseError("read", error, f"RuleSet.from_json({text!r})") from None
            return "refused", ("read",)
        checks = EXPENSIVE if (thorough or len(text) % 4 == 0) else CHEAP
        for name, check in checks:
            try:
                check(rule_set)
                check_warnings()
            except Exception as error:
                raise CaseError(name, error, f"rule_set = RuleSet.from_json({text!r})\n{_CALLS[name]}") from None
        return "read", tuple(name for name, _ in checks)


_CALLS = {
    "answers": "print(rule_set.predict_proba(X))  # a table with values of the conditions",
    "round trip": "print(RuleSet.from_json(rule_set.to_json()) == rule_set)",
    "str": "print(rule_set, rule_set._repr_html_())",
    "to_frame": "print(rule_set.to_frame())",
    "why": "print(rule_set.why({name: None for name in rule_set.columns}))",
    "sql": "print(rule_set.to_sql(keep=['id']), rule_set.to_sql(dialect='sqlite', keep=['id']))",
    "python": "print([rule_set.to_python(kind=kind) for kind in ('function', 'pandas', 'polars')])",
    "pmml": "print(rule_set.to_pmml())",
}


def probe(rule_set):
    """Return a table with values at, below and above those of the conditions, missing and other ones."""
    columns = {}
    for k, name in enumerate(rule_set.columns):
        conditions = [c for c in plain_conditions(rule_set.all_rules) if c.column == name]
        values = [v for c in conditions for v in (*c.values_named, *(bound for _, bound in c.comparisons))]
        columns[k] = _probe_column(rule_set.kind(name), values)
    n = max(map(len, columns.values()), default=3)
    frame = pd.DataFrame(
        {k: pd.Series(c).iloc[np.arange(n) % len(c)].reset_index(drop=True) for k, c in columns.items()}
    )
    frame.columns = pd.Index(list(rule_set.columns), dtype=object, tupleize_cols=False)
    return frame if len(columns) else pd.DataFrame({"x": [1, 2, 3]})


def _probe_column(kind, values):
    if kind == "number":
        reals = [float(v) for v in values if isinstance(v, int | float)][:4]
        near = [math.nextafter(v, side) for v in reals for side in (math.inf, -math.inf)]
        return pd.Series([*reals, *near, 0.0, math.nan], dtype=float)
    if kind in ("date", "date (UTC)"):
        zone = kind != "date"
        moments = [v for v in values if hasattr(v, "hour") and (v.tzinfo is not None) == zone][:6]
        moments = [v.replace(tzinfo=None) for v in moments] + [pd.Timestamp("2020-01-31").to_pydatetime(), None]
        series = pd.Series(np.array(moments, "M8[us]"))
        return series.dt.tz_localize("UTC") if zone else series
    if kind == "boolean":
        return pd.Series([True, False, None], dtype=object)
    if kind == "text":
        texts = [v for v in values if isinstance(v, str)][:6]
        return pd.Series([*texts, "another", "", None], dtype=object)
    return pd.Series([*values[:6], None], dtype=object) if kind else pd.Series([None, None], dtype=object)


def _allow_refusal(function):
    """Call a function; a ValueError of one line is allowed and gives None."""
    try:
        return function()
    except ValueError as error:
        if type(error) is not ValueError or not is_one_line(error):
            raise
        return None


def check_answers(rule_set):
    table = probe(rule_set)
    shares = _allow_refusal(lambda: rule_set.predict_proba(table))
    if shares is not None and not (np.isfinite(shares).all() and (np.abs(shares.sum(axis=1) - 1) < 1e-9).all()):
        raise CheckError(
            f"probabilities {shares[~np.isfinite(shares).all(axis=1)][:1].tolist() or shares.tolist()[:2]}"
        )


def check_round_trip(rule_set):
    again = RuleSet.from_json(rule_set.to_json())
    if again != rule_set:
        raise CheckError("the rule set read a second time is another one")
    table = probe(rule_set)
    first, second = (
        _allow_refusal(lambda r=r: (r.predict(table).tolist(), r.predict_proba(table))) for r in (rule_set, again)
    )
    same = first is None or (second is not None and first[0] == second[0] and np.array_equal(first[1], second[1]))
    if not same or (first is None) != (second is None):
        raise CheckError("the rule set read a second time gives other answers")


def check_why(rule_set):
    table = probe(rule_set)
    for record in table.iloc[:3].to_dict("records") if table.columns.is_unique else ():
        _allow_refusal(lambda record=record: rule_set.why(record))


def check_python(rule_set):
    sources = [
        _allow_refusal(lambda kind=kind: rule_set.to_python(kind=kind)) for kind in ("pandas", "polars", "function")
    ]
    spaces = [{} for _ in sources]
    for source, space in zip(sources, spaces, strict=True):
        if source is not None:
            exec(compile(source, "<rules>", "exec"), space)
    table = probe(rule_set)
    expected = _allow_refusal(lambda: (rule_set.predict(table).tolist(), rule_set.predict_proba(table)))
    if sources[-1] is None or expected is None:
        return
    lists = [table[name].tolist() for name in table.columns]
    for i, row in enumerate(zip(*lists, strict=True)):
        found = spaces[-1]["predict"](dict(zip(table.columns, row, strict=True)))
        shares = list(found["probabilities"].values())
        if found["label"] != expected[0][i] or not np.allclose(shares, expected[1][i], rtol=0, atol=1e-9):
            raise CheckError(
                f"the Python function gives {found['label']!r} {shares}, predict {expected[0][i]!r} {expected[1][i]}"
            )


CHEAP = [
    ("answers", check_answers),
    ("round trip", check_round_trip),
    ("str", lambda rule_set: (str(rule_set), rule_set._repr_html_())),
]
EXPENSIVE = [
    *CHEAP,
    ("to_frame", lambda rule_set: _allow_refusal(rule_set.to_frame)),
    ("why", check_why),
    ("sql", lambda r: [_allow_refusal(lambda d=d: r.to_sql(dialect=d, keep=["id"])) for d in ("duckdb", "sqlite")]),
    ("python", check_python),
    ("pmml", lambda rule_set: _allow_refusal(rule_set.to_pmml)),
]
