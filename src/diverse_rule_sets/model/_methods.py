"""What a rule set can be asked beyond predicting: thin methods, each of which opens its room on first use."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from diverse_rule_sets.model._rules import Rule, RuleSet


def _rules(doors: Doors) -> RuleSet:
    return cast("RuleSet", doors)


class Doors:
    """The part of :class:`RuleSet` that asks, edits and exports."""

    def why(self, X: Any, *, label: Any = None) -> Any:
        """Say in words why a record gets its label, and what would have had to differ for another one.

        Named are the rule that spoke, the record's own values where it looked, and for other labels the nearest change
        that gives them. A change of one column is nearer than one of several; of equally many columns the smallest
        change counts, that of a number or date as a share of the stretch in which the conditions on its column have
        their bounds, that of any other value as 1 (2 if no condition names the new one). What is said holds for
        every value that meets it, with the other values as they are: the rule set was asked about each of the pieces
        that its conditions cut a column into. Who would speak then is named last.

        Where no one column gives a label, only rules that say so are tried, the nearest few; where another rule
        would still speak, the words say so.

        Parameters
        ----------
        X : one record, a dict or a row of a pandas table, or a table
        label : the other label to speak of; by default the three nearest

        Returns
        -------
        str for one record, a list of str for a table

        Examples
        --------
        >>> from diverse_rule_sets import Rule, RuleSet
        >>> rules = (Rule.parse("IF age <= 37 THEN good"), Rule.parse("IF age > 60 AND sex = 'F' THEN bad"))
        >>> rule_set = RuleSet(rules, ("bad", "good"), "bad", (5, 5), (5, 1))
        >>> print(rule_set.why({"age": 30, "sex": "M"}))
        good, by rule 1: IF age <= 37 THEN good.
        Here age is 30.
        It would be bad if age > 37 (it is 30): the default, as no rule covers it.
        >>> print(rule_set.why({"age": 40, "sex": "M"}, label="good").splitlines()[-1])
        It would be good if age <= 37 (it is 40): rule 1.
        """
        from diverse_rule_sets.model._explanation import why

        return why(_rules(self), X, label)

    def evaluated(self, X: Any, y: Any) -> RuleSet:
        """Return the same rules with all counts taken on given data, and so precisions, probabilities and who speaks.

        Parameters
        ----------
        X, y : records, and their labels among ``classes``
        """
        from diverse_rule_sets.model._editing import evaluated

        return evaluated(_rules(self), X, y)

    def with_rule(self, rule: Rule | str, X: Any, y: Any, *, position: int | None = None) -> RuleSet:
        """Return the rule set with one more rule, all counts taken on given data.

        Fallbacks, and the default, that named the likeliest class of the records they answer for do so afterwards too.

        Parameters
        ----------
        rule : the rule, or one in words such as ``"IF age <= 37 THEN good"``
        X, y : records, and their labels among ``classes``
        position : its number, as printed; by default the last of the rules

        Examples
        --------
        >>> import numpy as np
        >>> from diverse_rule_sets import RuleSet
        >>> empty = RuleSet((), ("bad", "good"), "bad", (0, 0), (0, 0))
        >>> X, y = np.array([[1.0], [2.0], [3.0]]), ["bad", "good", "good"]
        >>> print(empty.with_rule("IF x0 > 1 THEN good", X, y))
        1. IF x0 > 1
           THEN good (precision 1.00, covers 2 of 3 records: 2 good)
           OTHERWISE bad (no rule covers 1 of 3 records: 1 bad)
        """
        from diverse_rule_sets.model._editing import with_rule

        return with_rule(_rules(self), rule, X, y, position)

    def without_rule(self, rule: Rule | str | int, X: Any, y: Any) -> RuleSet:
        """Return the rule set less one rule or fallback, all counts taken on given data.

        Fallbacks, and the default, that named the likeliest class of the records they answer for do so afterwards too.

        Parameters
        ----------
        rule : its number, as printed, or the rule itself, also in words
        X, y : records, and their labels among ``classes``
        """
        from diverse_rule_sets.model._editing import without_rule

        return without_rule(_rules(self), rule, X, y)

    def replace(self, rule: Rule | str | int, by: Rule | str, X: Any, y: Any) -> RuleSet:
        """Return the rule set with one rule or fallback in place of another, all counts taken on given data.

        Fallbacks, and the default, that named the likeliest class of the records they answer for do so afterwards too.

        Parameters
        ----------
        rule : number, as printed, of the one that goes, or the rule itself, also in words
        by : the one that comes, also in words
        X, y : records, and their labels among ``classes``
        """
        from diverse_rule_sets.model._editing import with_replaced

        return with_replaced(_rules(self), rule, by, X, y)

    def to_frame(self, like: Any = None) -> Any:
        """Return the rules as a data frame: rules, fallbacks and the default, a row each.

        Its columns: ``rule`` (the number, as printed), ``part`` (rule, fallback or default), ``if``, ``then``,
        ``conditions`` (how many), ``covers`` and ``coverage`` (training records, and their share), ``precision``, and
        the number of records of each class.

        Parameters
        ----------
        like : a table whose library is used; pandas or else polars by default
        """
        from diverse_rule_sets._util.frames import frame_like
        from diverse_rule_sets.model._text import frame_columns

        return frame_like(like, frame_columns(_rules(self)), rule="Int64")

    def to_json(self) -> str:
        """Return the rule set as JSON text, the format in which models are kept; :meth:`from_json` reads it back.

        A line holds one condition, so that two versions of a model can be compared by eye or by `diff`. The format is
        described by ``export/schema.json`` in this package.

        Examples
        --------
        >>> from diverse_rule_sets import Rule, RuleSet
        >>> rule = Rule.parse("IF age <= 37 THEN good")
        >>> text = RuleSet((rule,), ("bad", "good"), "bad", (5, 5), (5, 1)).to_json()
        >>> RuleSet.from_json(text).rules == (rule,)
        True
        """
        from diverse_rule_sets.export._json import to_json

        return to_json(_rules(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> RuleSet:
        """Read a rule set from the text of a JSON file.

        Nothing is executed. A file that is cut off, changed, of a later version or no rule set at all is refused with
        a ValueError that says what is wrong and where.
        """
        from diverse_rule_sets.export._json import from_json

        return from_json(text)

    def to_sql(
        self,
        *,
        dialect: str = "duckdb",
        table: str | Sequence[str] = "records",
        keep: str | Sequence[str] = "*",
        columns: Mapping[Hashable, str] | None = None,
        prefix: str = "predicted_",
    ) -> str:
        """Return one SQL query that answers for every record of a table, as this rule set does.

        It adds ``predicted_label``, ``predicted_rule`` (the number of the rule or fallback that spoke, as printed; NULL
        if none did) and a probability for each class, ``predicted_probability_...``. Needs the extra ``sql``.

        Parameters
        ----------
        dialect : of the database: ``"duckdb"``, ``"sqlite"``, ``"postgres"`` (these three are tested in the real
            thing), or any other that sqlglot knows
        table : the table's name, such as ``"records"`` or ``"schema.records"``; a tuple of names is quoted as it is
        keep : columns of the table to pass on; ``"*"`` for all. Where class counts or votes are added up they
            must be listed
        columns : names of columns in the database, where they differ from those in training
        prefix : how the names of the added columns begin; another one is needed where the table has such columns

        Notes
        -----
        NULL and NaN are missing. Text is compared as the database compares text: exactly, unless a column's collation
        says otherwise. In SQLite dates are text as ISO 8601, compared to the millisecond; elsewhere to
        whatever the column holds, while here what is finer than a microsecond is cut off.

        Examples
        --------
        >>> from diverse_rule_sets import Rule, RuleSet
        >>> rule = Rule.parse("IF age <= 37 THEN good")
        >>> print(RuleSet((rule,), ("bad", "good"), "bad", (5, 5), (5, 1)).to_sql(table="people", keep=["id"]))
        WITH drs_s AS MATERIALIZED (
          SELECT
            CASE WHEN r."age" <= 37 THEN 1 END AS "predicted_rule",
            r."id"
          FROM "people" AS r
        )
        SELECT
          s.*,
          CASE WHEN s."predicted_rule" IN (1) THEN 'good' ELSE 'bad' END AS "predicted_label",
          CAST(CASE WHEN s."predicted_rule" IN (1) THEN 0.5 ELSE 0.75 END AS DOUBLE) AS "predicted_probability_bad",
          CAST(CASE WHEN s."predicted_rule" IN (1) THEN 0.5 ELSE 0.25 END AS DOUBLE) AS "predicted_probability_good"
        FROM drs_s AS s
        <BLANKLINE>
        """
        from diverse_rule_sets.export._sql import to_sql

        return to_sql(_rules(self), dialect=dialect, table=table, keep=keep, columns=columns, prefix=prefix)

    def to_pmml(self, *, name: str = "rules") -> str:
        """Return the rule set as PMML 4.4, a RuleSetModel, for the scoring engines that read it.

        Its outputs are ``label``, ``rule`` (the number of the rule or fallback that spoke, as printed, or ``default``)
        and ``probability(...)`` for each class. Times with a zone are given to it in UTC.

        Parameters
        ----------
        name : what the model is called

        Examples
        --------
        >>> from diverse_rule_sets import Rule, RuleSet
        >>> rule = Rule.parse("IF age <= 37 THEN good")
        >>> text = RuleSet((rule,), ("bad", "good"), "bad", (5, 5), (5, 1)).to_pmml()
        >>> '<SimplePredicate field="age" operator="lessOrEqual" value="37" />' in text
        True
        """
        from diverse_rule_sets.export._pmml import to_pmml

        return to_pmml(_rules(self), name=name)

    def to_python(self, *, kind: str = "function", name: str = "predict", prefix: str = "predicted_") -> str:
        """Return the rule set as Python source.

        Parameters
        ----------
        kind : ``"function"``: a function of one record, a dict of values by column, which needs no import at all, not
            even of this package; ``"pandas"``: a function of a table that gives a table; ``"polars"``: a function
            that gives expressions for ``frame.with_columns(predict())``
        name : of the function
        prefix : how the names of new columns of a table begin

        Examples
        --------
        >>> from diverse_rule_sets import Rule, RuleSet
        >>> rule = Rule.parse("IF age <= 37 THEN good")
        >>> source = RuleSet((rule,), ("bad", "good"), "bad", (5, 5), (5, 1)).to_python()
        >>> space = {}
        >>> exec(source, space)
        >>> space["predict"]({"age": 30})
        {'label': 'good', 'rule': 1, 'probabilities': {'bad': 0.5, 'good': 0.5}}
        """
        from diverse_rule_sets.export._python import to_python

        return to_python(_rules(self), kind=kind, name=name, prefix=prefix)
