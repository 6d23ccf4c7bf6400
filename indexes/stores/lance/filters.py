"""Filters to SQL conditions: columns from a list, values quoted by the driver."""

from collections.abc import Collection

from lancedb.expr import col, lit

from indexes.filters import INTEGER_FIELDS, LIST_FIELDS, check_filters, interval_of
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
    return str(col(column).isin(sorted(values)).to_sql())


def between(column: str, low: str | None, high: str | None) -> str:
    """Return the condition that a text is at least *low* and less than *high*, of which one may be open."""
    tests = [col(column) >= lit(low)] if low is not None else []
    tests += [col(column) < lit(high)] if high is not None else []
    return " AND ".join(f"({test.to_sql()})" for test in tests)


def any_of(column: str, phrases: Collection[str]) -> str:
    """Return the condition that a text column contains one of *phrases*."""
    return " OR ".join(str(col(column).contains(phrase).to_sql()) for phrase in phrases)


def _left_out(item: LeftOut) -> str:
    # Of a column without a value no test is true or false: that it has one is asked first.
    tests = [f"{one.field} IS NOT NULL AND ({_condition(one)})" for one in item.where]
    tests += [f"NOT ({one.field} IS NOT NULL AND ({_condition(one)}))" for one in item.unless]
    return f"NOT ({' AND '.join(f'({test})' for test in tests)})"


def _condition(item: Filter) -> str:
    if item.field in INTEGER_FIELDS:
        return str(col(item.field).isin([int(value) for value in item.values]).to_sql())
    if item.field in LIST_FIELDS:
        return _holds_one_of(item.field, item.values)
    if item.field in DATE_FIELDS:
        return (
            " OR ".join(f"({_within(item.field, *interval_of(value))})" for value in item.values) or "false"
        )
    return one_of(item.field, item.values)


def _within(column: str, start: str | None, end: str | None) -> str:
    bounds = [f"{column} IS NOT NULL"]
    bounds += [f"{column} >= {lit(start).to_sql()}"] if start is not None else []
    bounds += [f"{column} < {lit(end).to_sql()}"] if end is not None else []
    return " AND ".join(bounds)


def _holds_one_of(column: str, values: Collection[str]) -> str:
    # lancedb.expr has no function for lists; only its quoting of values is used.
    tests = [f"array_has({column}, {lit(value).to_sql()})" for value in values]
    return " OR ".join(tests) or "false"
