"""How SQL dialects differ where the library that writes SQL (sqlglot) does not take care of it.

Any dialect of sqlglot can be used. A dialect with one of these properties is added to its set.
"""

# Dialects in which quotes do not change the meaning of a table name.
CASELESS = frozenset(("duckdb", "sqlite"))
# Dialects in which quotes do not change the meaning of a table name in lower case.
LOWER = frozenset(("postgres", "redshift", "materialize", "risingwave"))
# Dialects in which quoted names are case sensitive.
CASE_SENSITIVE = frozenset(("postgres", "redshift", "snowflake", "oracle"))
# Dialects in which a step of a query can be declared to be computed once.
MATERIALIZED = frozenset(("duckdb", "postgres", "sqlite"))
# Dialects in which NaN is a value larger than all others, and not missing.
NAN_IS_LARGEST = frozenset(("postgres", "duckdb", "snowflake", "spark", "spark2", "databricks", "redshift", "hive"))
# Dialects in which a boolean column is a bit, or TRUE could be the name of a column.
BITS = frozenset(("tsql", "fabric", "oracle", "sqlite"))
# Dialects in which a plain number is compared exactly, for every type of the column.
PLAIN_NUMBERS = frozenset(("postgres", "sqlite"))
