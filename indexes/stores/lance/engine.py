"""pylance: another face of the engine inside lancedb, with calls that lancedb lacks.

It comes with the extra `pipeline`: whoever only reads does without.
"""

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import lance

Address = tuple[str, dict[str, str] | None]
"""Where a table is, and the options of its storage."""

ENGINE = "13.0."
"""Release of the engine inside lancedb 0.40. Two releases may write indexes that only the newer one reads."""
BTREE_PAGE = 1024
"""Rows of a page of an index by value, of which a lookup reads one for each value and segment.

By default 4,096: 50 values among 7.2 million in six segments then take 60 CPU ms, not 41 (bench/RESULTS.md).
"""

_CACHE_BYTES = 64 << 20


@cache
def has_engine() -> bool:
    """Whether pylance is there, of the release that lancedb has inside."""
    if find_spec("lance") is None:
        return False
    import lance

    return str(lance.__version__).startswith(ENGINE)


def open_by_engine(address: Address, *, version: int | None = None) -> "lance.LanceDataset":
    """Open the newest version of a table, or another, by pylance; its caches stay small."""
    import lance

    uri, options = address
    session = lance.Session(index_cache_size_bytes=_CACHE_BYTES, metadata_cache_size_bytes=_CACHE_BYTES)
    return lance.dataset(uri, version=version, storage_options=options, session=session)


def declare_btree(uri: str, options: dict[str, str] | None, column: str) -> None:
    """Give an empty table an index by value; segments appended or merged later keep the size of its pages."""
    import lance
    from lance.indices import IndexConfig

    config = IndexConfig(index_type="btree", parameters={"zone_size": BTREE_PAGE})
    lance.dataset(uri, storage_options=options).create_scalar_index(column, config)
