"""Methods of rule sets that explain, edit and export; each imports its module when it is called."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from diverse_rule_sets.model._conditions import Condition
    from diverse_rule_sets.model._rule import Rule
    from diverse_rule_sets.model._rules import RuleSet
    from diverse_rule_sets.model._signs import Sign


def _rule_set(methods: RuleSetMethods) -> RuleSet:
    """Return the object itself, with the type that type checkers need."""
    return cast("RuleSet", methods)


class RuleSetMethods:
    """The base class of :class:`RuleSet` with the methods that explain, edit and export."""

    def why(self, X: Any, *, label: Any = None) -> Any:
        """Explain the label of a record, and find the nearest changes that would give it another label.

        The text names the deciding rule, the values of the record in the columns of this rule, and for other labels the
        nearest change that gives them, with the rule that would decide. A change of one column is nearer than a change
        of several columns. Among changes of equally many columns the smallest is the nearest: the size of a change of a
        number or date is its share of the range of the bounds in the conditions on the column, the size of any other
        change is 1 (2 if it is not known whether the new value occurred in training). A change gives the label for
        every value that meets its conditions, with the other values unchanged: the rule set is applied to one value of
        each of the pieces into which its conditions divide a column.

        If the deciding rule tests points, the text names the points of the record, the signs that give them, and the
        signs that are not known because their value is missing; a change then states how it alters the points. Signs
        and other conditions on a column change together.

        A change names only values that occurred in training, at most eight, and intervals that contain a whole number
        or a whole day if all values in training were; rule sets that were written by hand do not know these values. A
        change to a missing value is reported only if no other change that gives the label is found.

        If no change of a single column gives a label, only the nearest rules with this label are tried. The text states
        if another rule would still decide. If the rules use scorecards, all changes of two columns are tried first,
        then all of three; of more than 8192 combinations, those of the nearest pieces. Changes of more columns are
        found by changing one column after the other, so that they need not have the fewest columns.

        Parameters
        ----------
        X : one record, a dict or a row of a pandas table; or a table, also one that is read in batches
        label : the other label to explain; by default the three nearest

        Returns
        -------
        str for one record, a list of str for a table

        Examples
        --------
        >>> from diverse_rule_sets import Rule, RuleSet
        >>> rules = (Rule.parse("IF age <= 37 THEN good"), Rule.parse("IF age > 60 AND sex = 'F' THEN bad"))
        >>> rule_set = RuleSet(rules, ("bad", "good"), "bad", (5, 5), (5, 1))
        >>> print(rule_set.why({"age": 30, "sex": "M"}))
        good, decided by rule 1: IF age <= 37 THEN good.
        In this record age is 30.
        It would be bad if age > 37 (it is 30): default label, because no rule would cover it.
        >>> print(rule_set.why({"age": 40, "sex": "M"}, label="good").splitlines()[-1])
        It would be good if age <= 37 (it is 40): decided by rule 1.
        """
        from diverse_rule_sets.model._explanation import why

        return why(_rule_set(self), X, label)

    def evaluated(self, X: Any, y: Any, sample_weight: Any = None) -> RuleSet:
        """Return the same rules with all counts computed on given data.

        The counts determine the precisions, the probabilities and the deciding rules.

        Parameters
        ----------
        X, y : records, and their labels among ``classes``; or, as in ``fit``, a table that is read in batches, and the
            name of the column with the labels
        sample_weight : weights of the records, or the name of their column, as in ``fit``: whole numbers are counts,
            other weights are scaled to sum to the number of records of positive weight
        """
        from diverse_rule_sets.model._editing import evaluated

        return evaluated(_rule_set(self), X, y, sample_weight)

    def with_rule(
        self, rule: Rule | str, X: Any, y: Any, *, position: int | None = None, sample_weight: Any = None
    ) -> RuleSet:
        """Return the rule set with one more rule, with all counts computed on given data.

        Fallback rules, and the default label, whose label was the likeliest class of the records that they decide get
        the class that is likeliest now. A warning names a rule that covers no record of the data, and values that the
        rule lists but no record has.

        Parameters
        ----------
        rule : the rule, or its text such as ``"IF age <= 37 THEN good"``
        X, y : records, and their labels among ``classes``
        position : the printed number of the new rule; by default it becomes the last rule
        sample_weight : weights of the records, or the name of their column, as in ``fit``

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

        return with_rule(_rule_set(self), rule, X, y, position, sample_weight)

    def without_rule(self, rule: Rule | str | int, X: Any, y: Any, *, sample_weight: Any = None) -> RuleSet:
        """Return the rule set without one rule or fallback rule, with all counts computed on given data.

        Fallback rules, and the default label, whose label was the likeliest class of the records that they decide get
        the class that is likeliest now.

        Parameters
        ----------
        rule : the printed number of the rule, the rule itself, or its text
        X, y : records, and their labels among ``classes``
        sample_weight : weights of the records, or the name of their column, as in ``fit``
        """
        from diverse_rule_sets.model._editing import without_rule

        return without_rule(_rule_set(self), rule, X, y, sample_weight)

    def replace(self, rule: Rule | str | int, by: Rule | str, X: Any, y: Any, *, sample_weight: Any = None) -> RuleSet:
        """Return the rule set with one rule or fallback rule replaced, with all counts computed on given data.

        Fallback rules, and the default label, whose label was the likeliest class of the records that they decide get
        the class that is likeliest now. A warning names a rule that covers no record of the data, and values that the
        rule lists but no record has.

        Parameters
        ----------
        rule : the printed number of the rule to replace, the rule itself, or its text
        by : the new rule, or its text
        X, y : records, and their labels among ``classes``
        sample_weight : weights of the records, or the name of their column, as in ``fit``
        """
        from diverse_rule_sets.model._editing import replace_rule

        return replace_rule(_rule_set(self), rule, by, X, y, sample_weight)

    def with_sign(
        self,
        sign: Sign | str,
        X: Any,
        y: Any,
        *,
        scorecard: str | None = None,
        position: int | None = None,
        sample_weight: Any = None,
    ) -> RuleSet:
        r"""Return the rule set with one more sign of a scorecard, with all counts computed on given data.

        All rules and fallback rules that test the scorecard use the new one, and their probabilities by points are
        computed anew. A warning names a rule with a condition on points that can no longer hold or now always holds.
        Labels of fallback rules and the default label change as in :meth:`with_rule`.

        Parameters
        ----------
        sign : the sign, or its text such as ``"2 if income <= 1000"``, with several labels ``"2 for good if ..."``
        X, y : records, and their labels among ``classes``
        scorecard : the name of the scorecard; it may be left out if there is only one
        position : the number of the new sign, from 1 in the printed order; by default it becomes the last sign
        sample_weight : weights of the records, or the name of their column, as in ``fit``

        Examples
        --------
        >>> from diverse_rule_sets import RuleSet
        >>> lines = ["Scorecard points (for ill):", "   3 if x0 > 55", "1. IF points >= 3 THEN ill", "OTHERWISE ok"]
        >>> rule_set = RuleSet.parse("\n".join(lines))
        >>> X, y = [[60.0, 1.0], [70.0, 0.0], [20.0, 1.0], [30.0, 0.0]], ["ill", "ok", "ok", "ok"]
        >>> print(rule_set.with_sign("2 if x1 > 0", X, y).replace(1, "IF points >= 4 THEN ill", X, y))
        Scorecard points (0 to 5 for ill):
           3 if x0 > 55
           2 if x1 > 0
        1. IF points >= 4
           THEN ill (precision 1.00, covers 1 of 4 records: 1 ill)
           probability of ill by points: 5: 0.97 (others cannot occur)
           OTHERWISE ok (no rule covers 3 of 4 records: 3 ok)
        """
        from diverse_rule_sets.model._scorecard_editing import with_sign

        return with_sign(_rule_set(self), sign, X, y, scorecard, position, sample_weight)

    def without_sign(
        self,
        sign: Sign | Condition | str | int,
        X: Any,
        y: Any,
        *,
        scorecard: str | None = None,
        sample_weight: Any = None,
    ) -> RuleSet:
        """Return the rule set without one sign of a scorecard; all else is as in :meth:`with_sign`.

        Parameters
        ----------
        sign : the number of the sign, from 1 in the printed order, its condition such as ``"age > 55"``, or itself
        X, y : records, and their labels among ``classes``
        scorecard : the name of the scorecard; it may be left out if there is only one
        sample_weight : weights of the records, or the name of their column, as in ``fit``
        """
        from diverse_rule_sets.model._scorecard_editing import without_sign

        return without_sign(_rule_set(self), sign, X, y, scorecard, sample_weight)

    def with_points(
        self,
        sign: Sign | Condition | str | int,
        points: Any,
        X: Any,
        y: Any,
        *,
        scorecard: str | None = None,
        sample_weight: Any = None,
    ) -> RuleSet:
        """Return the rule set with other points of a sign of a scorecard; all else is as in :meth:`with_sign`.

        Parameters
        ----------
        sign : the number of the sign, from 1 in the printed order, its condition such as ``"age > 55"``, or itself
        points : a whole number other than 0; a dict of labels to such numbers if there are several labels
        X, y : records, and their labels among ``classes``
        scorecard : the name of the scorecard; it may be left out if there is only one
        sample_weight : weights of the records, or the name of their column, as in ``fit``
        """
        from diverse_rule_sets.model._scorecard_editing import with_points

        return with_points(_rule_set(self), sign, points, X, y, scorecard, sample_weight)

    def to_frame(self, like: Any = None) -> Any:
        """Return the rule set as a data frame: the rules, the fallback rules and the default label, a row each.

        Its columns are ``rule`` (the printed number), ``part`` (rule, fallback or default), ``if``, ``then``,
        ``conditions`` (their number), ``covers`` and ``coverage`` (number and share of training records; a fallback
        rule and the default label count the records that they decide), ``precision``, and the number of records of
        each class. If rules use scorecards, there are two more columns, ``scorecard`` (its name) and ``points``, and
        below the rules a row for each sign and label that it gives points to: ``part`` is sign, ``if`` its condition
        and ``then`` the label. Base points are rows whose ``part`` is base.

        Parameters
        ----------
        like : a table; the data frame is of the same library. By default pandas is used, or polars without pandas
        """
        from diverse_rule_sets.model._text import rules_frame

        return rules_frame(_rule_set(self), like)

    def to_json(self) -> str:
        """Return the rule set as JSON text, the format in which models are stored; :meth:`from_json` reads it back.

        Each condition is on a line of its own, so that `diff` can compare two versions of a model. The JSON schema is
        ``export/schema.json`` in this package.

        Examples
        --------
        >>> from diverse_rule_sets import Rule, RuleSet
        >>> rule = Rule.parse("IF age <= 37 THEN good")
        >>> text = RuleSet((rule,), ("bad", "good"), "bad", (5, 5), (5, 1)).to_json()
        >>> RuleSet.from_json(text).rules == (rule,)
        True
        """
        from diverse_rule_sets.export._json import to_json

        return to_json(_rule_set(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> RuleSet:
        """Read a rule set from the text of a JSON file.

        Nothing is executed. Files of earlier versions give the same answers, except that ``True`` and ``1`` in a column
        of several types were equal in version 1. Raises ValueError, with the error and its
        position, if the text is incomplete or invalid, of a later version, or not a rule set.
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
        """Return one SQL query that applies this rule set to every record of a table.

        The query adds the columns ``predicted_label``, ``predicted_rule`` (the printed number of the deciding rule or
        fallback rule; NULL if there is none) and ``predicted_probability_...`` for each class. If all columns are kept
        and rules test scorecards, it also adds their points, such as ``predicted_points``. It needs the extra ``sql``.

        Parameters
        ----------
        dialect : the SQL dialect: ``"duckdb"``, ``"sqlite"``, ``"postgres"`` (these three are tested in the real
            databases), or any other dialect of sqlglot
        table : the name of the table, such as ``"records"`` or ``"schema.records"``; the names of a tuple are quoted
            unchanged
        keep : columns of the table to keep; ``"*"`` for all. If class counts or votes are added up, the columns must
            be listed
        columns : names of columns in the database, if they differ from those in training. They must be given for a
            column that the database cannot tell apart from another column of the training table, such as ``a`` and
            ``A`` in DuckDB and SQLite
        prefix : the start of the names of the added columns; another prefix is needed if the table has such columns
            (an error if the rules read one of them)

        Notes
        -----
        NULL and NaN are missing. A column must have the type that it had in training: numbers that are stored as text
        are compared as text, and a column with a time zone in training must have one in the database. Numbers are
        compared as doubles, dates are truncated to microseconds. In SQLite dates are ISO 8601 text, such as
        ``2020-01-31`` or ``2020-01-31T12:00:00.123456+05:00``, and booleans are 0 and 1. Text is compared exactly,
        unless the column has another collation (in SQLite also then). If the rules need more than the database can
        hold, :class:`UserWarning` names the column, or :class:`ValueError` is raised if the labels would be wrong.

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

        return to_sql(_rule_set(self), dialect=dialect, table=table, keep=keep, columns=columns, prefix=prefix)

    def to_pmml(self, *, name: str = "rules") -> str:
        """Return the rule set as PMML 4.4, a RuleSetModel, for scoring engines.

        Its outputs are ``label``, ``rule`` (the printed number of the deciding rule or fallback rule, or ``default``)
        and ``probability(...)`` for each class. Dates with a time zone must be given to the model in UTC.

        Parameters
        ----------
        name : the name of the model

        Examples
        --------
        >>> from diverse_rule_sets import Rule, RuleSet
        >>> rule = Rule.parse("IF age <= 37 THEN good")
        >>> text = RuleSet((rule,), ("bad", "good"), "bad", (5, 5), (5, 1)).to_pmml()
        >>> '<SimplePredicate field="age" operator="lessOrEqual" value="37" />' in text
        True
        """
        from diverse_rule_sets.export._pmml import to_pmml

        return to_pmml(_rule_set(self), name=name)

    def to_python(self, *, kind: str = "function", name: str = "predict", prefix: str = "predicted_") -> str:
        """Return the rule set as Python source.

        Parameters
        ----------
        kind : ``"function"``: a function of one record, a dict of values by column, that needs no import, not even of
            this package; ``"pandas"``: a function that takes a table and returns a table; ``"polars"``: a function
            that returns expressions for ``frame.with_columns(predict())``
        name : the name of the function
        prefix : the start of the names of the new columns of a table

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

        return to_python(_rule_set(self), kind=kind, name=name, prefix=prefix)
