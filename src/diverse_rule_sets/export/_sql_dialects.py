"""How SQL dialects differ where the library that writes SQL (sqlglot) does not take care of it.

Any dialect of sqlglot can be used. A dialect with one of these properties is added to its set.
"""

from __future__ import annotations

import math

# Dialects in which quotes do not change the meaning of a table name.
CASELESS = frozenset(("duckdb", "sqlite"))
# Dialects in which quotes do not change the meaning of a table name in lower case.
LOWER = frozenset(("postgres", "redshift", "materialize", "risingwave"))
# Dialects in which quoted names are case sensitive.
CASE_SENSITIVE = frozenset(("postgres", "materialize", "risingwave", "snowflake", "oracle", "clickhouse", "exasol"))
# Dialects in which names are not case sensitive, but only for the letters a to z.
ASCII_CASELESS = frozenset(("duckdb", "sqlite"))
# Number of bytes of a name; the rest of a longer name is ignored.
NAME_BYTES = {"postgres": 63, "redshift": 127}
# Columns that every table has, so that no other column has their name.
SYSTEM_COLUMNS = {"postgres": frozenset(("ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"))}
# Names that a column of a step of a query cannot have: it gets another one.
NAMES_LOST_IN_STEPS = {"sqlite": frozenset(("true", "false"))}
# Dialects in which a step of a query can be declared to be computed once.
MATERIALIZED = frozenset(("duckdb", "postgres", "sqlite"))
# Dialects in which VALUES is a table.
VALUES = frozenset(("duckdb", "postgres", "sqlite"))
# Dialects in which NaN is a value larger than all others, and not missing.
NAN_IS_LARGEST = frozenset(("postgres", "duckdb", "snowflake", "spark", "spark2", "databricks", "redshift", "hive"))
# Dialects in which a boolean column is a bit, or TRUE could be the name of a column.
BITS = frozenset(("tsql", "fabric", "oracle", "sqlite"))
# Dialects in which a plain number is compared exactly, for every type of the column.
PLAIN_NUMBERS = frozenset(("postgres", "sqlite"))
# Dialects in which a timestamp may have more digits than microseconds, as have the timestamps in the query.
FINE_DATES = frozenset(("duckdb", "snowflake", "tsql"))
# Dialects in which text is NULL if it is empty.
EMPTY_IS_NULL = frozenset(("oracle", "exasol"))
# Dialects in which = for text ignores the case, or blanks at the end, unless the column has another collation.
LOOSE_TEXT = frozenset(("mysql", "singlestore", "tsql", "teradata"))
# Digits of a second that remain in a timestamp in the query, if they are fewer than six.
SECOND_DIGITS = {
    **dict.fromkeys(("mysql", "singlestore", "doris", "clickhouse"), 0),
    **dict.fromkeys(("trino", "presto", "athena", "dune", "exasol", "drill", "druid", "dremio", "solr"), 3),
}
# First and last year of dates that are compared as in Python's calendar.
YEARS = {"mysql": (1000, 9999), "singlestore": (1000, 9999), "clickhouse": (1900, 2299), "oracle": (1583, 9999)}
# Maximum number of columns of a query.
MAX_COLUMNS = {"oracle": 1000, "postgres": 1664, "sqlite": 2000, "mysql": 4096, "tsql": 4096}
# Integers from this one on are not exact; 2**63 for dialects that are not listed.
INTEGERS_END = {"duckdb": 2**127, "postgres": math.inf, "oracle": 10**38, "snowflake": 10**38}
DEFAULT_INTEGERS_END = 2**63


def folded_name(name: str, dialect: str) -> str:
    """Return what a dialect reads of a quoted name: two names are one column if the results are equal."""
    if dialect in ASCII_CASELESS:
        name = "".join(c.lower() if c.isascii() else c for c in name)
    elif dialect not in CASE_SENSITIVE:
        name = name.casefold()
    return name.encode("utf8", "replace")[: NAME_BYTES.get(dialect)].decode("utf8", "ignore")
