"""Texts equal but for case, as `str.casefold` has it; databases agree on the letters of ASCII alone."""

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

_IN_LIMIT = 500


class _utf8_length(FunctionElement[int]):  # noqa: N801 - functions of SQL are written like this
    """Bytes of a text in UTF-8, whatever the encoding of the database."""

    type = sa.Integer()
    inherit_cache = True


@compiles(_utf8_length, "postgresql")
def _postgresql(element: _utf8_length, compiler: SQLCompiler, **options: Any) -> str:
    return f"octet_length(convert_to({compiler.process(element.clauses, **options)}, 'UTF8'))"


@compiles(_utf8_length, "sqlite")
def _sqlite(element: _utf8_length, compiler: SQLCompiler, **options: Any) -> str:
    return f"length(CAST({compiler.process(element.clauses, **options)} AS BLOB))"


def may_fold_to(column: sa.ColumnElement[str], folded: Collection[str]) -> sa.ColumnElement[bool]:
    """True of every row whose text folds to one of *folded*, and of every text with a letter beyond ASCII.

    Of all rows, where *folded* are many.
    """
    if len(folded) > _IN_LIMIT:
        return column.is_not(None)
    # Beyond ASCII, folding changes more than letters: `Straße` and `STRASSE` are equal. Within it, columns
    # are compared by their bytes (tables.py), so that `lower` is that of no language.
    beyond_ascii = _utf8_length(column) > sa.func.length(column)
    return sa.or_(sa.func.lower(column).in_(sorted(folded)), beyond_ascii)
