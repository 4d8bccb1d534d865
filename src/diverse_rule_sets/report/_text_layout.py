"""Words in pictures: cut to the room there is, never read as formulas, in letters that the fonts have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from diverse_rule_sets._util.plotting import pyplot
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._formatting import ANYTHING, format_label, format_name
from diverse_rule_sets.model._rules import Rule

# A condition keeps at least so many characters; where there is less room, the last conditions go.
_LEAST = 24
_AND = " AND "
# Letters and digits at the end of what names have in common, but not all of a very long word.
_HALF_A_WORD = r"[^\W_]{1,12}$"


def width_of(text: str) -> int:
    """Return how wide a text is, in usual letters: Chinese ones and W count twice, accents on their own not at all."""
    return sum(map(_letter_width, text))


@lru_cache(maxsize=4096)
def _letter_width(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me"):
        return 0
    return 2 if letter in "MWm@%" or unicodedata.east_asian_width(letter) in "WF" else 1


def shortened(text: str, width: int) -> str:
    """Return the text without its middle if it is too wide: names differ at both ends, and conditions end in a value.

    Examples
    --------
    >>> shortened("a_name_with_many_words <= 0.25", 20)
    'a_name_w…ds <= 0.25'
    """
    if width_of(text) <= width:
        return text
    tail = max(width // 3, min(10, width // 2))
    return f"{_cut(text, width - 1 - tail)}…{_cut(text[::-1], tail)[::-1]}"


def _cut(text: str, width: int) -> str:
    """Return as much of the start as is not wider than that."""
    end, room = 0, width
    while end < len(text) and width_of(text[end]) <= room:
        room -= width_of(text[end])
        end += 1
    return text[:end]


@lru_cache(maxsize=512)
def told_apart(names: tuple[str, ...], width: int) -> dict[str, str]:
    """Return each name in that width at most, different ones differently: cut where they are alike, or numbered.

    Examples
    --------
    >>> names = ("mean of the first lens, in millimetres", "mean of the other lens, in millimetres")
    >>> list(told_apart(names, 20).values())
    ['mean…first…tres', 'mean…other…tres']
    """
    short = {name: shortened(name, width) for name in dict.fromkeys(names)}
    alike: dict[str, list[str]] = {}
    for name, text in short.items():
        alike.setdefault(text, []).append(name)
    for text, group in alike.items():
        if len(group) > 1:
            short |= _apart(group, width, {*short.values()} - {text})
    return short


def _apart(group: Sequence[str], width: int, taken: set[str]) -> dict[str, str]:
    """Cut names that start and end alike so that what differs stays; where there is no room for that, number them."""
    for word in (_HALF_A_WORD, ""):  # whole words where there is room
        start = len(re.sub(word, "", _alike(group)))
        end = len(re.sub(word, "", _alike([name[start:][::-1] for name in group])))
        short = {name: _around(name, start, len(name) - end, width) for name in group}
        if len({*short.values()} - taken) == len(group) and max(map(width_of, short.values())) <= width:
            return short
    tags = [f"…#{k}" for k in range(1, len(group) + len(taken) + 1)]
    free = (text for tag in tags if (text := _cut(group[0], width - len(tag)) + tag) not in taken)
    return dict(zip(group, free, strict=False))


def _alike(texts: Sequence[str]) -> str:
    """Return what all texts start with."""
    letters = enumerate(zip(*texts, strict=False))
    return texts[0][: next((k for k, some in letters if len(set(some)) > 1), min(map(len, texts)))]


def _around(name: str, start: int, end: int, width: int) -> str:
    """Return a name without what stands between its first letters, a part, and its last letters."""
    room = max(width - width_of(name[start:end]) - 2, 0)
    head, tail = _cut(name[:start], room // 2), _cut(name[end:][::-1], room // 3)[::-1]
    before = head.rstrip() + ("…" if len(head) < start else "")
    return before + name[start:end].strip() + ("…" if len(tail) < len(name) - end else "") + tail.lstrip()


def wrapped(text: str, width: int) -> str:
    """Break each line of a text at blanks; a word wider than a line is cut."""
    lines: list[str] = []
    for line in text.split("\n"):
        lines.append("")
        for word in line.split(" "):
            longer = f"{lines[-1]} {word}" if lines[-1] else word
            if width_of(longer) <= width:
                lines[-1] = longer
                continue
            lines.append(word)
            while width_of(lines[-1]) > width:
                head = _cut(lines[-1], width) or lines[-1][0]
                lines[-1:] = [head, lines[-1][len(head) :]]
    return "\n".join(line for line in lines if line)


def names_of(rules: Iterable[Rule]) -> tuple[str, ...]:
    """Return the columns and labels of rules in words, for :func:`told_apart`."""
    rules = list(rules)
    columns = [format_name(condition.column) for rule in rules for condition in rule.conditions]
    return tuple(dict.fromkeys(map(readable, [*columns, *(format_label(rule.label) for rule in rules)])))


def conditions_joined(conditions: Sequence[Condition], width: int, names: tuple[str, ...]) -> str:
    """Join conditions by AND in that width; columns are told apart from all names given."""
    words = [readable(str(condition)) for condition in conditions]
    columns = dict(zip(words, (readable(format_name(condition.column)) for condition in conditions), strict=True))
    names = tuple(dict.fromkeys([*names, *columns.values()]))

    def cut(text: str, limit: int) -> str:
        column = columns[text]
        if column not in text or width_of(text) <= limit or limit < _LEAST // 2:
            return shortened(text, limit)
        rest = width_of(text) - width_of(column)
        name = told_apart(names, max(limit - rest, limit // 2))[column]
        before, after = text.split(column, 1)
        start = shortened(before, limit // 4) + name
        return start + shortened(after, limit - width_of(start))

    return joined(words, width, cut)


def joined(conditions: Sequence[str], width: int, cut: Callable[[str, int], str] = shortened) -> str:
    """Join conditions by AND: the longest are cut; where that is not enough, the last ones are counted."""
    for n in range(len(conditions), 0, -1):
        rest = f"{_AND}{len(conditions) - n} more" if n < len(conditions) else ""
        room = width - width_of(_AND) * (n - 1) - width_of(rest)
        widths = [width_of(condition) for condition in conditions[:n]]
        limit = _fair(widths, room)
        if n == 1 or limit >= min(_LEAST, max(widths)):
            return _AND.join(cut(condition, max(limit, 2)) for condition in conditions[:n]) + rest
    return ANYTHING


def _fair(widths: Sequence[int], room: int) -> int:
    """Return the largest width to which all are cut so that they fit; more than all if they do uncut."""
    left = room
    for k, width in enumerate(sorted(widths)):
        share = left // (len(widths) - k)
        if width > share:
            return share
        left -= width
    return max(widths) + 1


def rule_words(number: int, rule: Rule, width: int, line: int | None = None, names: tuple[str, ...] = ()) -> str:
    """Return a rule with its number in that width at most, broken into lines between conditions.

    Columns and labels that are cut are told apart from all names given, as :func:`names_of` returns them.
    """
    label = readable(format_label(rule.label))
    label = told_apart((*names, label), max(width // 4, 8))[label]
    head, tail = f"{number}. IF ", f" THEN {label}"
    room = max(width - width_of(head) - width_of(tail), _LEAST)
    body = conditions_joined(rule.conditions, room, names)
    if line is None:
        return head + body + tail
    first, *others = f"{head}{body}".split(_AND)
    return filled([first, *(f"AND {other}" for other in others), tail.strip()], line)


def filled(pieces: Iterable[str], width: int) -> str:
    """Break pieces of text into lines, where possible between the pieces."""
    lines = [""]
    for piece in pieces:
        longer = f"{lines[-1]} {piece}".strip()
        if width_of(longer) <= width:
            lines[-1] = longer
        else:
            lines += wrapped(piece, width).split("\n")
    return "\n".join(line for line in lines if line)


def readable(text: str) -> str:
    r"""Return the text with the letters that no installed font has written as in Python, such as ``\u5e74``."""
    absent = _absent(text)
    for path in _fonts_with(absent):
        absent = absent - _held(path, absent)
    return "".join(_escaped(c) if c in absent else c for c in text) if absent else text


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _absent(text: str) -> frozenset[str]:
    """Return the letters of a text that the fonts in use do not have."""
    letters = frozenset(c for c in text if not c.isascii() and not c.isspace())
    if not letters:
        return letters
    pyplot()
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties, findfont

    for family in rcParams["font.family"]:
        letters = letters - _held(findfont(FontProperties(family=[family])), letters)
    return letters


def _held(path: str, letters: frozenset[str]) -> frozenset[str]:
    """Return those of the letters that a font has."""
    from matplotlib.font_manager import get_font

    font = get_font(path)
    return frozenset(c for c in letters if font.get_char_index(ord(c)))


@lru_cache(maxsize=512)
def _fonts_with(letters: frozenset[str]) -> tuple[str, ...]:
    """Return the paths of as few installed fonts as have what any has of the letters. Opens all of them, once."""
    if not letters:
        return ()
    from matplotlib.font_manager import fontManager

    upright = {
        entry.fname
        for entry in fontManager.ttflist
        if entry.style == "normal" and entry.weight == 400 and not entry.name.startswith("Last Resort")  # all boxes
    }
    held = {path: _held(path, letters) for path in sorted(upright)}
    chosen: list[str] = []
    while letters and held:
        best = max(held, key=lambda path: len(letters & held[path]))
        if not letters & held[best]:
            break
        chosen.append(best)
        letters = letters - held[best]
    return tuple(chosen)


def as_written(texts: Iterable[Any]) -> None:
    """Have matplotlib draw its Text objects letter by letter: no formulas, further fonts where letters need them."""
    from matplotlib.font_manager import get_font

    for text in texts:
        text.set(parse_math=False, usetex=False)
        more = [get_font(path).family_name for path in _fonts_with(_absent(text.get_text()))]
        if more:
            text.set_fontfamily([*text.get_fontfamily(), *more])
