"""Text in plots: shortened to the available width, never parsed as formulas, with glyphs that the fonts contain."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from diverse_rule_sets._util.plotting import pyplot
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._formatting import ANYTHING, format_label, format_name
from diverse_rule_sets.model._rule import Rule

# A condition is not cut to fewer letters than this; instead, the last conditions are left out.
_MIN_WIDTH = 24
_AND = " AND "
# Largest number of lines of a rule next to a bar.
MAX_LINES = 3
# Letters and digits at the end of a common prefix: the start of a word, at most 12 letters.
_PARTIAL_WORD = r"[^\W_]{1,12}$"


def width_of(text: str) -> int:
    """Return the width of a text in letters; wide ones, such as Chinese ones and W, count 2, combining accents 0."""
    return sum(map(_letter_width, text))


@lru_cache(maxsize=4096)
def _letter_width(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me"):
        return 0
    return 2 if letter in "MWm@%" or unicodedata.east_asian_width(letter) in "WF" else 1


def shorten(text: str, width: int) -> str:
    """Return the text without its middle if it is too wide. Names differ at both ends, and conditions end in a value.

    Examples
    --------
    >>> shorten("a_name_with_many_words <= 0.25", 20)
    'a_name_w…ds <= 0.25'
    """
    if width_of(text) <= width:
        return text
    tail = max(width // 3, min(10, width // 2))
    return f"{_cut(text, width - 1 - tail)}…{_cut(text[::-1], tail)[::-1]}"


def _cut(text: str, width: int) -> str:
    """Return the longest start of a text that is not wider than the given width."""
    end, left = 0, width
    while end < len(text) and width_of(text[end]) <= left:
        left -= width_of(text[end])
        end += 1
    return text[:end]


@lru_cache(maxsize=512)
def distinct_names(names: tuple[str, ...], width: int) -> dict[str, str]:
    """Return a short text for each name, of at most the given width, different for different names.

    Names are cut where they are equal; if that is not possible, they are numbered.

    Examples
    --------
    >>> names = ("mean of the first lens, in millimetres", "mean of the other lens, in millimetres")
    >>> list(distinct_names(names, 20).values())
    ['mean…first…tres', 'mean…other…tres']
    """
    short = {name: shorten(name, width) for name in dict.fromkeys(names)}
    groups: dict[str, list[str]] = {}
    for name, text in short.items():
        groups.setdefault(text, []).append(name)
    for text, group in groups.items():
        if len(group) > 1:
            short |= _distinct_group(group, width, {*short.values()} - {text})
    return short


def _distinct_group(group: Sequence[str], width: int, reserved: set[str]) -> dict[str, str]:
    """Shorten names that start and end alike so that the different parts remain; if these are too wide, number them."""
    for word in (_PARTIAL_WORD, ""):  # whole words if the width allows it
        start = len(re.sub(word, "", _common_prefix(group)))
        end = len(re.sub(word, "", _common_prefix([name[start:][::-1] for name in group])))
        short = {name: _cut_around(name, start, len(name) - end, width) for name in group}
        if len({*short.values()} - reserved) == len(group) and max(map(width_of, short.values())) <= width:
            return short
    tags = [f"…#{k}" for k in range(1, len(group) + len(reserved) + 1)]
    numbered = (text for tag in tags if (text := _cut(group[0], width - len(tag)) + tag) not in reserved)
    return dict(zip(group, numbered, strict=False))


def _common_prefix(texts: Sequence[str]) -> str:
    """Return the longest common start of all texts."""
    letters = enumerate(zip(*texts, strict=False))
    return texts[0][: next((k for k, some in letters if len(set(some)) > 1), min(map(len, texts)))]


def _cut_around(name: str, start: int, end: int, width: int) -> str:
    """Return the first letters of a name, its part from start to end, and its last letters, joined by ellipses."""
    left = max(width - width_of(name[start:end]) - 2, 0)
    head, tail = _cut(name[:start], left // 2), _cut(name[end:][::-1], left // 3)[::-1]
    before = head.rstrip() + ("…" if len(head) < start else "")
    return before + name[start:end].strip() + ("…" if len(tail) < len(name) - end else "") + tail.lstrip()


def wrap(text: str, width: int) -> str:
    """Break each line of a text at spaces; words wider than a line are broken too."""
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
    """Return the names of the columns and the labels of rules as text, for :func:`distinct_names`."""
    rules = list(rules)
    columns = [format_name(condition.column) for rule in rules for condition in rule.conditions]
    return tuple(dict.fromkeys(map(escape_missing, [*columns, *(format_label(rule.label) for rule in rules)])))


def format_conditions(conditions: Sequence[Condition], width: int, names: tuple[str, ...]) -> str:
    """Join conditions by AND, at most the given width; shortened columns stay distinct from all `names`."""
    texts = [escape_missing(str(condition)) for condition in conditions]
    columns = dict(zip(texts, (escape_missing(format_name(condition.column)) for condition in conditions), strict=True))
    names = tuple(dict.fromkeys([*names, *columns.values()]))

    def cut(text: str, limit: int) -> str:
        column = columns[text]
        if column not in text or width_of(text) <= limit or limit < _MIN_WIDTH // 2:
            return shorten(text, limit)
        rest = width_of(text) - width_of(column)
        name = distinct_names(names, max(limit - rest, limit // 2))[column]
        before, after = text.split(column, 1)
        start = shorten(before, limit // 4) + name
        return start + shorten(after, limit - width_of(start))

    return join_conditions(texts, width, cut)


def join_conditions(conditions: Sequence[str], width: int, cut: Callable[[str, int], str] = shorten) -> str:
    """Join conditions by AND: the longest are shortened; if that is not enough, the last ones become "3 more"."""
    for n in range(len(conditions), 0, -1):
        rest = f"{_AND}{len(conditions) - n} more" if n < len(conditions) else ""
        available = width - width_of(_AND) * (n - 1) - width_of(rest)
        widths = [width_of(condition) for condition in conditions[:n]]
        limit = _width_limit(widths, available)
        if n == 1 or limit >= min(_MIN_WIDTH, max(widths)):
            return _AND.join(cut(condition, max(limit, 2)) for condition in conditions[:n]) + rest
    return ANYTHING


def _width_limit(widths: Sequence[int], total: int) -> int:
    """Return the largest limit of the widths at which their sum fits into the total; above all of them if they fit."""
    left = total
    for k, width in enumerate(sorted(widths)):
        share = left // (len(widths) - k)
        if width > share:
            return share
        left -= width
    return max(widths) + 1


def rule_text(number: int, rule: Rule, width: int, line: int | None = None, names: tuple[str, ...] = ()) -> str:
    """Return a rule with its number as text of at most the given width, broken into lines between conditions.

    Shortened columns and labels stay distinct from all `names`, which :func:`names_of` returns.
    """
    label = escape_missing(format_label(rule.label))
    label = distinct_names((*names, label), max(width // 4, 8))[label]
    head, tail = f"{number}. IF ", f" THEN {label}"
    available = max(width - width_of(head) - width_of(tail), _MIN_WIDTH)
    body = format_conditions(rule.conditions, available, names)
    if line is None:
        return head + body + tail
    first, *others = f"{head}{body}".split(_AND)
    return fill_lines([first, *(f"AND {other}" for other in others), tail.strip()], line)


def rule_lines(number: int, rule: Rule, width: int, line: int, names: tuple[str, ...]) -> str:
    """Return a rule as :func:`rule_text` does, with less of its text if this would have too many lines."""
    texts = (rule_text(number, rule, each, line, names) for each in range(width, line, -6))
    return next((text for text in texts if text.count("\n") < MAX_LINES), rule_text(number, rule, line, line, names))


def fill_lines(pieces: Iterable[str], width: int) -> str:
    """Break pieces of text into lines, if possible between the pieces."""
    lines = [""]
    for piece in pieces:
        longer = f"{lines[-1]} {piece}".strip()
        if width_of(longer) <= width:
            lines[-1] = longer
        else:
            lines += wrap(piece, width).split("\n")
    return "\n".join(line for line in lines if line)


def escape_missing(text: str) -> str:
    r"""Return the text with escapes such as ``\u5e74`` for the letters that no installed font contains."""
    missing = _missing_letters(text)
    for path in _fonts_with(missing):
        missing = missing - _letters_in_font(path, missing)
    return "".join(_escape(c) if c in missing else c for c in text) if missing else text


def left_to_right(text: str) -> str:
    """Return the text with a mark after each Hebrew or Arabic name, so that what follows is not drawn before it.

    Without the mark ``> -0.5`` after such a name would be drawn as ``0.5- <`` before it.
    """
    flags = [unicodedata.bidirectional(c) in ("R", "AL") for c in text]
    marked, follows = [], False  # whether the next letter that is no blank is Hebrew or Arabic, too
    for letter, flag in zip(reversed(text), reversed(flags), strict=True):
        marked.append(letter + "\u200e" if flag and not follows else letter)
        follows = flag or (follows and letter == " ")
    return "".join(reversed(marked))


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _missing_letters(text: str) -> frozenset[str]:
    """Return the letters of a text that the configured fonts do not contain."""
    letters = frozenset(c for c in text if not c.isascii() and not c.isspace())
    if not letters:
        return letters
    pyplot()
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties, findfont

    for family in rcParams["font.family"]:
        letters = letters - _letters_in_font(findfont(FontProperties(family=[family])), letters)
    return letters


def _letters_in_font(path: str, letters: frozenset[str]) -> frozenset[str]:
    """Return which of the letters a font contains."""
    from matplotlib.font_manager import get_font

    font = get_font(path)
    return frozenset(c for c in letters if font.get_char_index(ord(c)))


@lru_cache(maxsize=512)
def _fonts_with(letters: frozenset[str]) -> tuple[str, ...]:
    """Return the paths of a few installed fonts that contain the letters, if any do. Opens all installed fonts."""
    if not letters:
        return ()
    from matplotlib.font_manager import fontManager

    upright = {
        entry.fname
        for entry in fontManager.ttflist
        if entry.style == "normal" and entry.weight == 400 and not entry.name.startswith("Last Resort")  # only boxes
    }
    contents = {path: _letters_in_font(path, letters) for path in sorted(upright)}
    chosen: list[str] = []
    while letters and contents:
        best = max(contents, key=lambda path: len(letters & contents[path]))
        if not letters & contents[best]:
            break
        chosen.append(best)
        letters = letters - contents[best]
    return tuple(chosen)


def draw_literally(texts: Iterable[Any]) -> None:
    """Set matplotlib's Text objects to be drawn literally: no formulas, and further fonts if letters need them."""
    from matplotlib.font_manager import get_font

    for text in texts:
        text.set(parse_math=False, usetex=False)
        more = [get_font(path).family_name for path in _fonts_with(_missing_letters(text.get_text()))]
        if more:
            text.set_fontfamily([*text.get_fontfamily(), *more])
