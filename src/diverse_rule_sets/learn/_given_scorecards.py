"""Scorecards as the user gives them: validation, and translation of their labels to those of y.

Scorecards come from the parameter ``scorecards``, or from given rules that test a scorecard of their own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from diverse_rule_sets._input.checks import did_you_mean, list_text, warn
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets.data._backend import Backend
from diverse_rule_sets.data._given import GivenCondition
from diverse_rule_sets.learn._given_covers import GivenCovers
from diverse_rule_sets.model._conditions import Condition, Equals
from diverse_rule_sets.model._formatting import format_name, label_position
from diverse_rule_sets.model._grammar import UnknownOrderError
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rule_warnings import warn_about_rule
from diverse_rule_sets.model._scorecards import Scorecard, ScorecardColumn
from diverse_rule_sets.model._signs import Sign

# Number of signs of a scorecard about which there are warnings.
_MAX_WARNINGS = 5
_EXAMPLE = "points (for ill): 3 if age > 55"


def read_scorecards(given: Any) -> tuple[Scorecard, ...]:
    """Return the scorecards of a list of scorecards or texts; errors name the parameter, for every table."""
    if not isinstance(given, list | tuple):
        raise TypeError(f"scorecards must be a list of scorecards, got {given!r}")
    if not given:
        raise ValueError(f"scorecards must hold at least one scorecard, got {given!r}; None means no scorecards")
    cards = tuple(_read(j, card) for j, card in enumerate(given))
    names: dict[str, int] = {}
    for j, card in enumerate(cards):
        first = names.setdefault(card.name, j)
        if first != j:
            raise ValueError(
                f"scorecards[{first}] and scorecards[{j}] have the same name {card.name!r}, expected different names"
            )
    return cards


def _read(j: int, card: Any) -> Scorecard:
    if isinstance(card, Scorecard):
        return card
    if not isinstance(card, str):
        raise TypeError(
            f"scorecards[{j}] must be a Scorecard or a scorecard as text, got {card!r:.80} ({type(card).__name__})"
        )
    try:
        return Scorecard.parse(card)
    except UnknownOrderError as error:
        raise ValueError(f"scorecards[{j}] must be a Scorecard.parse(text, orders=...): {error}") from None
    except ValueError as error:
        raise ValueError(f"scorecards[{j}] must be a scorecard as text: {error}") from None


def warn_about_given_rule(rule: Rule, covers: GivenCovers, backend: Backend, table: Table) -> None:
    """Warn if a given rule covers no record, with the reason; otherwise about values that no record has."""
    start = f"given_rules has the rule {rule}"
    covers_any = bool(backend.class_counts(covers.of_conditions(rule.conditions)).any())
    for condition in () if covers_any else rule.conditions:
        column = condition.column
        if isinstance(column, ScorecardColumn) and not backend.class_counts(covers.of_condition(condition)).any():
            values = list(covers.levels(column.scorecard).of(column))
            found = f"; its values are from {values[0]} to {values[-1]}" if column.counts_points else ""
            warn(f"{start}: {condition} holds for no record{found}")
            return
    warn_about_rule(rule.conditions, covers_any, table.column, start)


class KnownScorecard(NamedTuple):
    """A scorecard with the labels of y, and what it is called at the start of errors and warnings."""

    card: Scorecard
    origin: str

    def given_conditions(self) -> Iterator[GivenCondition]:
        """Iterate over the conditions of the signs."""
        return (GivenCondition(sign.condition, f"{self.origin} has the sign {sign}") for sign in self.card.signs)

    def warn(self, covers: GivenCovers, backend: Backend, table: Table) -> None:
        """Warn about signs that hold for no record or for every record, absent values, and points that never differ."""
        useless = 0
        for given in self.given_conditions():
            condition = given.condition
            n_records = backend.class_counts(covers.of_condition(condition)).sum()
            useless += n_records in (0, backend.n_records)
            if n_records in (0, backend.n_records) and useless > _MAX_WARNINGS:
                continue
            warn_about_rule([condition], n_records > 0, table.column, given.origin)
            if n_records == backend.n_records:
                warn(f"{given.origin}: {condition} holds for every record, so that its points distinguish no records")
        if useless > _MAX_WARNINGS:
            warn(f"{self.origin} has {useless - _MAX_WARNINGS:,} more signs that hold for no or for every record")
        if covers.levels(self.card).constant:
            warn(f"{self.origin} gives the same points to every record, so that no condition on them separates records")


class ScorecardInput:
    """Given scorecards, validated against a table and its labels.

    Parameters
    ----------
    given : the scorecards of the parameter ``scorecards``
    table, labels : the table, and the labels of y
    """

    def __init__(self, given: Sequence[Scorecard], table: Table, labels: Sequence[Any]) -> None:
        self._table, self._labels = table, labels
        self._known: dict[Scorecard, KnownScorecard] = {}
        self._derived = {str(column) for card in given for column in card.derived_columns()}
        for j, card in enumerate(given):
            self._add(card, f"scorecards[{j}]")
        self.given = tuple(dict.fromkeys(self._known.values()))

    @property
    def all(self) -> tuple[KnownScorecard, ...]:
        """The given scorecards, and those that conditions were translated for."""
        return tuple(dict.fromkeys(self._known.values()))

    def translate(self, condition: Condition, rule: object) -> Condition:
        """Return a condition of a given rule; one on a scorecard with the labels of y."""
        column = condition.column
        if not isinstance(column, ScorecardColumn):
            return condition
        before = column.scorecard
        if before not in self._known:
            self._add(before, f"given_rules has the rule {rule}, whose scorecard {before.name!r}")
        after = self._known[before].card
        label = None if column.label is None else after.labels[before.position(column.label)]
        if isinstance(condition, Equals):
            return after.leads(after.labels[before.position(condition.value)])
        return replace(condition, column=after.column(column.part, label))

    def _add(self, card: Scorecard, origin: str) -> None:
        """Validate a scorecard, and remember it with the labels of y."""
        for sign in card.signs:
            self._check_column(sign, origin)
        known = KnownScorecard(self._with_labels(card, origin), origin)
        for other in self._known.values():
            if other.card.name == known.card.name:
                if other.card != known.card:
                    raise ValueError(
                        f"{origin} has the name of another scorecard, {known.card.name!r}, expected different names"
                    )
                known = other
        self._check_name(known)
        self._known[card] = self._known[known.card] = known

    def _check_column(self, sign: Sign, origin: str) -> None:
        name = sign.condition.column
        if name not in self._table:
            no_points = "; a sign cannot test points" if str(name) in self._derived else ""
            raise ValueError(
                f"{origin} has the sign {sign}, which names the column {name!r}; X does not have it, its columns: "
                f"{list_text(self._table.names)}{no_points or did_you_mean(name, self._table.names)}"
            )

    def _check_name(self, known: KnownScorecard) -> None:
        """Raise ValueError if a column of the table has the name of a derived column."""
        texts = {format_name(name): name for name in self._table.names}
        for column in known.card.derived_columns():
            if str(column) in texts:
                raise ValueError(
                    f"{known.origin} is called {known.card.name!r}, so that {str(column)!r} would mean its points and "
                    f"also the column {texts[str(column)]!r} of the table; give the scorecard another name"
                )

    def _with_labels(self, card: Scorecard, origin: str) -> Scorecard:
        """Return a scorecard with its labels as in y; each is given as in y or as the text of exactly one label."""
        known: dict[Hashable, Any] = {}
        for label in card.labels:
            position = label_position(label, self._labels)
            if position is None:
                raise ValueError(
                    f"{origin} gives points to the label {label!r}, which y does not have; its labels: "
                    f"{list_text(self._labels)}{did_you_mean(label, self._labels)}"
                )
            known[label] = self._labels[position]
        if len(set(known.values())) < len(known):
            raise ValueError(f"{origin} gives points to labels that are the same label of y: {list_text(known)}")
        if all(type(label) is type(own) and label == own for label, own in known.items()):
            return card
        signs = (Sign(sign.condition, {known[label]: n for label, n in sign.points.items()}) for sign in card.signs)
        base = {known[label]: n for label, n in card.base.items()}
        return Scorecard(card.name, tuple(signs), tuple(known.values()), base)


def points_hint(name: Hashable, columns: Iterable[Hashable], cards: Iterable[Scorecard]) -> str:
    """Return the end of an error about an unknown column of a rule, which could be meant as points of a scorecard."""
    derived = [str(column) for card in cards for column in card.derived_columns()]
    similar = did_you_mean(name, [*columns, *derived])
    if derived:
        return f"; the given scorecards have {list_text(derived)}{similar}"
    if not similar and str(name).casefold().split(" ")[0] in ("points", "lead", "score", "scorecard"):
        return f"; to test points, give the scorecard by the parameter scorecards, such as {_EXAMPLE!r}"
    return similar
