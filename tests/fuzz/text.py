"""Damaged texts of rules, scorecards and rule sets: a ValueError of one line, or what is read can be read back."""

import time
from typing import Any, NamedTuple

from diverse_rule_sets import Rule, RuleSet, Scorecard

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
    *("Scorecard ", " for ", " if ", " always", "most ", "lead", "points", " of ", " (for a, b):", "\n   ", "; ", ":"),
    *("OTHERWISE ", "Fallback rules", "probability of a by points: 1: 0.50", "-3", "1000", "If several rules cover a "),
    *HOSTILE,
    *SURROGATES,
)


class TextCase(NamedTuple):
    """A text to read.

    Parameters
    ----------
    kind : what it is the text of, a key of ``READ``
    text : the text
    made : what was printed, if the text was not changed; else None
    cards : the scorecards that conditions of a rule may test
    """

    kind: str
    text: str
    made: Any = None
    cards: tuple[Scorecard, ...] = ()

    def read(self, text):
        """Read a text as this case does."""
        return READ[self.kind][0](text, self)

    @property
    def code(self):
        """Return lines of Python that read the text."""
        texts = [str(card) for card in self.cards]
        lines = [f"cards = [Scorecard.parse(text) for text in {texts!r}]"] if texts else []
        text = self.text if len(self.text) < 5000 else self.text[:5000]
        return "\n".join([*lines, f"print(repr({READ[self.kind][1].format(repr(text))}))"])


# How to read a text, and how a program does.
READ = {
    "rule": (lambda text, case: Rule.parse(text), "Rule.parse({})"),
    "rule on scorecards": (lambda text, case: Rule.parse(text, case.cards), "Rule.parse({}, cards)"),
    "scorecard": (lambda text, case: Scorecard.parse(text), "Scorecard.parse({})"),
    "rule set": (lambda text, case: RuleSet.parse(text), "RuleSet.parse({})"),
}


def make_rule(draw):
    """Return a rule with hostile names and values."""
    return models.rule(draw, models.columns_of(draw), draw.pick(models.label_of(draw)))


def _make(draw):
    """Return a kind of text, what to print, and scorecards."""
    kind = draw.pick(("rule", "rule", "rule", "rule on scorecards", "scorecard", "rule set"))
    if kind == "rule":
        return kind, make_rule(draw), ()
    if kind == "rule set":
        return kind, models.rule_set(draw), ()
    columns, classes = models.columns_of(draw), models.label_of(draw)
    card = models.scorecard(draw, columns, classes)
    if kind == "scorecard":
        return kind, card, ()
    rule = models.rule(draw, columns, draw.pick(classes))
    longer = Rule((*rule.conditions, *models.scorecard_conditions(draw, card)), rule.label)
    try:
        RuleSet((longer,), tuple(classes), rule.label, (0,) * len(classes), (0,) * len(classes))
    except ValueError:  # the scorecard has the name of a column
        return "rule", rule, ()
    return kind, longer, (card,)


def make_text(seed, number):
    """Return the text of a rule, a scorecard or a rule set, with some changes; a :class:`TextCase`."""
    draw = Draw(seed, 2, number)
    kind, made, cards = _make(draw)
    text = str(made)
    if draw.chance(0.2):
        return TextCase(kind, text, made, cards)
    for _ in range(draw.pick((1, 1, 2, 3, 5))):
        text = _change(draw, text)
    if draw.chance(0.03):
        begin = draw.below(len(text) + 1)
        text = text[:begin] + draw.pick((*_TOKENS, text, " ", "a")) * draw.pick((300, 3000, 20000)) + text[begin:]
    return TextCase(kind, text[:200_000], None, cards)


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


def check_text(case):
    """Read a text. Return the outcome and the checks; raises CaseError."""
    with watched_warnings() as check_warnings:
        start = time.thread_time()
        try:
            found = case.read(case.text)
        except Exception as error:
            if not isinstance(error, ValueError) or not is_one_line(error):
                raise CaseError("parse", error, case.code) from None
            found = None
        seconds = time.thread_time() - start
        if seconds > FIXED_SECONDS + SECONDS_PER_CHARACTER * len(case.text):
            slow = CheckError(f"{seconds:.1f} s for {len(case.text)} characters")
            raise CaseError("time to parse", slow, case.code)
        try:
            check_warnings()
            _check_again(found, case)
            check_warnings()
        except Exception as error:
            raise CaseError("read back", error, case.code) from None
    return ("refused" if found is None else "read"), ("parse", "read back")


def _same(found, made):
    """Return whether what was read is what was made; a text contains neither counts nor probabilities."""
    if isinstance(made, RuleSet):
        return isinstance(found, RuleSet) and found.same_rules(made) and found.scorecards == made.scorecards
    return found == made


def _is_readable(made):
    """Return whether the text of something must be read back: the names of all its columns are plain."""
    parts = made.conditions if isinstance(made, Rule) else (made,)
    return all(is_plain(column) for part in parts for column in part.columns)


def _check_again(found, case):
    if case.made is not None and not _same(found, case.made) and (found is not None or _is_readable(case.made)):
        raise CheckError(f"{case.text!r} is read as {str(found)!r}")
    if found is not None:
        again = case.read(str(found))
        if not _same(again, found):
            raise CheckError(f"{case.text!r} is read as {str(found)!r}, and this as {str(again)!r}")
