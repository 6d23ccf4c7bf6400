"""Any schema object, as hypothesis draws it: every field from its type, every enum member, every None."""

import types
from dataclasses import fields
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from schemas.nodes import NODE_TYPES, BBox, Node, PageSize

texts = st.text(max_size=12)
numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
boxes = st.tuples(numbers, numbers, numbers, numbers).map(
    lambda n: BBox(min(n[0], n[2]), min(n[1], n[3]), max(n[0], n[2]), max(n[1], n[3]))
)
sizes = st.builds(PageSize, numbers, numbers)
json_objects = st.dictionaries(texts, st.one_of(st.none(), st.booleans(), st.integers(), texts), max_size=3)

_SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: st.integers(min_value=0, max_value=10**9),
    float: numbers,
    bool: st.booleans(),
    BBox: boxes,
    PageSize: sizes,
    dict[str, Any]: json_objects,
    dict[str, int]: st.dictionaries(texts, st.integers(), max_size=3),
}


def records_of(cls: type[Any]) -> st.SearchStrategy[Any]:
    """Any object of a schema class."""
    hints = get_type_hints(cls)
    return st.builds(cls, **{f.name: _of(hints[f.name]) for f in fields(cls)})


def _of(hint: Any) -> st.SearchStrategy[Any]:
    if hint in _SCALARS:
        return _SCALARS[hint]
    if hint == Node:
        return st.one_of([records_of(cls) for cls in NODE_TYPES.values()])
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return st.one_of([st.none() if arg is type(None) else _of(arg) for arg in args])
    if origin is tuple and args[-1] is Ellipsis:
        return st.lists(_of(args[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*map(_of, args))
    if origin is dict:
        return st.dictionaries(_of(args[0]), _of(args[1]), max_size=3)
    return st.sampled_from(list(hint)) if issubclass(hint, Enum) else records_of(hint)
