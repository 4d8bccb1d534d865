"""Damaged rule texts: reading one is a ValueError of one line, or gives a rule whose text is read back."""

import time

from diverse_rule_sets import Rule

from . import models
from .names import is_plain
from .outcome import CaseError, CheckError, is_one_line, watched_warnings
from .values import HOSTILE, SURROGATES, Draw

# Time that reading a text may take: seconds, and seconds for each character.
FIXED_SECONDS, SECONDS_PER_CHARACTER = 0.1, 2e-5
_TOKENS = (
    *(
        " AND ",
        " THEN ",
        "IF ",
        "AND",
        "THEN",
        " is missing",
        " in {",
        " not in {",
        "}",
        "{",
        ", ",
        "<=",
        "<",
        ">",
        ">=",
    ),
    *(
        "=",
        "==",
        "!=",
        '"',
        "'",
        "`",
        "\\",
        '\\"',
        "[",
        "]",
        "(",
        ")",
        "1",
        "0",
        "-",
        ".",
        "e9",
        "1e999",
        "inf",
        "-inf",
    ),
    *("nan", "True", "False", "None", "2020-01-31", "2020-13-99", "12:00:00", "Z", "+01:00", "\n", "\t", "\r", "\x00"),
    *("\\x41", "\\u0041", "\\ud800", "\\N{DASH}", "1. ", "(precision 1.00, covers 2 of 3 records: 2 a)", "anything"),
    *HOSTILE,
    *SURROGATES,
)


def make_rule(draw):
    """Return a rule with hostile names and values."""
    return models.rule(draw, models.columns_of(draw), draw.pick(models.label_of(draw)))


def make_text(seed, number):
    """Return the text of a rule with some changes, and the rule itself if there are none."""
    draw = Draw(seed, 2, number)
    rule = make_rule(draw)
    text = str(rule)
    if draw.chance(0.2):
        return text, rule
    for _ in range(draw.pick((1, 1, 2, 3, 5))):
        text = _change(draw, text)
    if draw.chance(0.03):
        begin = draw.below(len(text) + 1)
        text = text[:begin] + draw.pick((*_TOKENS, text, " ", "a")) * draw.pick((300, 3000, 20000)) + text[begin:]
    return text[:200_000], None


def _change(draw, text):
    i = draw.below(len(text) + 1)
    j = min(len(text), i + draw.pick((1, 1, 2, 5, 20)))
    kind = draw.below(7)
    if kind == 0:
        return text[:i] + text[j:]
    if kind in (1, 2, 3):
        return text[:i] + draw.pick(_TOKENS) + text[i:]
    if kind == 4:
        return text[:i] + draw.pick(_TOKENS) + text[j:]
    if kind == 5:
        return text[:j] + text[i:j] + text[j:]
    k = draw.below(len(text) + 1)
    return text[:i] + text[k : k + 10] + text[j:] if draw.chance(0.5) else text[:i] + text[i:j].swapcase() + text[j:]


def check_text(text, rule=None):
    """Read a text. Return the outcome and the checks; raises CaseError."""
    code = f"print(repr(Rule.parse({text if len(text) < 5000 else text[:5000]!r})))"
    with watched_warnings() as check_warnings:
        start = time.thread_time()
        try:
            found = Rule.parse(text)
        except Exception as error:
            if type(error) is not ValueError or not is_one_line(error):
                raise CaseError("parse", error, code) from None
            found = None
        seconds = time.thread_time() - start
        if seconds > FIXED_SECONDS + SECONDS_PER_CHARACTER * len(text):
            raise CaseError("time to parse", CheckError(f"{seconds:.1f} s for {len(text)} characters"), code)
        try:
            check_warnings()
            _check_again(found, rule, text)
            check_warnings()
        except Exception as error:
            raise CaseError("read back", error, code) from None
    return ("refused" if found is None else "read"), ("parse", "read back")


def _check_again(found, rule, text):
    if rule is not None and found != rule:
        plain = all(is_plain(condition.column) for condition in rule.conditions)
        if found is not None or plain:
            raise CheckError(f"{text!r} is read as {str(found)!r}")
    if found is not None:
        again = Rule.parse(str(found))
        if again != found:
            raise CheckError(f"{text!r} is read as {str(found)!r}, and this as {str(again)!r}")
