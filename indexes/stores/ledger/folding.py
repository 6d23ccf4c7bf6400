"""Texts equal but for case, as `str.casefold` has it; databases agree on the letters of ASCII alone."""

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

_IN_LIMIT = 500


class octet_length(FunctionElement[int]):  # noqa: N801 - functions of SQL are written like this
    """Bytes of a text in UTF-8."""

    type = sa.Integer()
    inherit_cache = True


@compiles(octet_length)
def _standard(element: octet_length, compiler: SQLCompiler, **options: Any) -> str:
    return f"octet_length({compiler.process(element.clauses, **options)})"


@compiles(octet_length, "sqlite")
def _sqlite(element: octet_length, compiler: SQLCompiler, **options: Any) -> str:
    # SQLite has the function of the standard since 3.43 only.
    return f"length(CAST({compiler.process(element.clauses, **options)} AS BLOB))"


def may_fold_to(column: sa.ColumnElement[str], folded: Collection[str]) -> sa.ColumnElement[bool]:
    """True of every row whose text folds to one of *folded*, and of few others; of all for many texts."""
    if len(folded) > _IN_LIMIT:
        return column.is_not(None)
    # Beyond ASCII, folding changes more than letters: `Straße` and `STRASSE` are equal.
    beyond_ascii = octet_length(column) > sa.func.length(column)
    return sa.or_(sa.func.lower(column).in_(sorted(folded)), beyond_ascii)
