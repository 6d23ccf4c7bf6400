"""Conditions in SQL: columns from a list, values as literals, which `_literal` alone writes."""

from collections.abc import Collection

from indexes.filters import INTEGER_FIELDS, LIST_FIELDS, check_filters, interval_of
from schemas.errors import FilterError
from schemas.evidence import DATE_FIELDS, Condition, Filter, LeftOut


def where(filters: Collection[Condition]) -> str | None:
    """Return the conjunction of all filters, or None for no filter.

    Raises: FilterError: an unknown field, or a value its column cannot have.
    """
    check_filters(filters)
    tests = (_left_out(item) if isinstance(item, LeftOut) else _condition(item) for item in filters)
    return " AND ".join(f"({test})" for test in tests) or None


def one_of(column: str, values: Collection[str]) -> str:
    """Return the condition that a text column equals one of *values*."""
    return f"{column} IN ({', '.join(map(_literal, sorted({*values})))})" if values else "false"


def between(column: str, low: str | None, high: str | None) -> str:
    """Return the condition that a text is at least *low* and less than *high*, of which one may be open."""
    tests = [f"{column} >= {_literal(low)}"] if low is not None else []
    tests += [f"{column} < {_literal(high)}"] if high is not None else []
    return " AND ".join(f"({test})" for test in tests)


def any_of(column: str, phrases: Collection[str]) -> str:
    """Return the condition that a text column contains one of *phrases*."""
    return " OR ".join(f"contains({column}, {_literal(phrase)})" for phrase in phrases) or "false"


def _literal(value: str) -> str:
    """Write a text in SQL. DataFusion reads every sign as it is, a backslash too, but for a doubled quote.

    `to_sql` of lancedb.expr does not double a quote after a backslash (LanceDB 0.40), so nothing uses that.
    Raises: FilterError: half a surrogate pair, which no table can hold.
    """
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise FilterError("is not UTF-8, so no index holds it", subject=repr(value[:80])) from error
    return "'" + value.replace("'", "''") + "'"


def _left_out(item: LeftOut) -> str:
    # Of a column without a value no test is true or false: that it has one is asked first.
    tests = [f"{one.field} IS NOT NULL AND ({_condition(one)})" for one in item.where]
    tests += [f"NOT ({one.field} IS NOT NULL AND ({_condition(one)}))" for one in item.unless]
    return f"NOT ({' AND '.join(f'({test})' for test in tests)})"


def _condition(item: Filter) -> str:
    if item.field in INTEGER_FIELDS:
        numbers = ", ".join(str(int(value)) for value in item.values)
        return f"{item.field} IN ({numbers})" if numbers else "false"
    if item.field in LIST_FIELDS:
        return _holds_one_of(item.field, item.values)
    if item.field in DATE_FIELDS:
        return (
            " OR ".join(f"({_within(item.field, *interval_of(value))})" for value in item.values) or "false"
        )
    return one_of(item.field, item.values)


def _within(column: str, start: str | None, end: str | None) -> str:
    bounds = between(column, start, end)
    return f"{column} IS NOT NULL AND {bounds}" if bounds else f"{column} IS NOT NULL"


def _holds_one_of(column: str, values: Collection[str]) -> str:
    return " OR ".join(f"array_has({column}, {_literal(value)})" for value in values) or "false"
