"""What a filter may ask for, in every store."""

from collections.abc import Collection

from schemas.errors import FilterError
from schemas.evidence import FILTER_FIELDS, Filter

LIST_FIELDS = frozenset({"tool_names"})
INTEGER_FIELDS = frozenset({"page_no"})


def check_filters(filters: Collection[Filter]) -> None:
    """Raise FilterError for a field that is not in FILTER_FIELDS, or a value its column cannot have."""
    for item in filters:
        if item.field not in FILTER_FIELDS:
            raise FilterError(f"unknown filter field; known: {', '.join(FILTER_FIELDS)}", subject=item.field)
        for value in item.values if item.field in INTEGER_FIELDS else ():
            if not (value.isascii() and value.isdecimal()):
                raise FilterError(f"not a whole number: {value!r}", subject=item.field)
