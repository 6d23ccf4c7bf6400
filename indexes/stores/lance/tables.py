"""Tables of an index directory: their columns, their search indexes, and the names of their versions.

A version of a table is immutable; the tag `gen-N` names the one that generation N reads.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import lancedb
import pyarrow as pa
from lancedb.index import FTS, Bitmap, BTree, LabelList
from lancedb.table import Table

from indexes.layout import remedy
from indexes.places import bucket_of, make_folder
from indexes.stores.lance.stems import ENGLISH, language_of_tag
from indexes.stores.lance.table_upkeep import Address, declare_btree
from indexes.table_files import tag_of
from schemas.errors import (
    BUCKET_NAME,
    WHAT_TO_DO,
    DamageFound,
    NoRoom,
    SchemaMismatch,
    SitegraphError,
    StoreUnavailable,
    plain_reason,
    signal_in_error,
    what_to_check,
    why_no_room,
)
from schemas.nodes import Chunk

_TAKEN_AS_IT_IS = re.compile(r"[\w/ !$&'()+,.:;=@-]*", re.ASCII)


def address_of(directory: Path) -> str:
    """Return the address of a folder or of a prefix of a bucket.

    Of any path with another letter, such as `/home/jürgen`, lance 13 would make the folder of tags a second
    time, `/home/j%C3%BCrgen`, and fail where that may not be made. Its URL of the general driver, with the
    letters coded, is read as it is meant.

    >>> address_of(Path("/srv/index")), address_of(Path("/home/jürgen"))
    ('/srv/index', 'file-object-store:///home/j%C3%BCrgen')
    """
    path = str(directory)
    if "://" in path or _TAKEN_AS_IT_IS.fullmatch(path):
        return path
    return f"file-object-store://{quote(path)}"


PROSE: Final = ("text", "heading", "anchors")
"""Columns that are searched as prose."""

_STEMMED: Final[Mapping[str, str]] = {
    "ar": "Arabic", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish",
    "fi": "Finnish", "fr": "French", "hu": "Hungarian", "it": "Italian", "nl": "Dutch", "no": "Norwegian",
    "nb": "Norwegian", "nn": "Norwegian", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sv": "Swedish", "ta": "Tamil", "tr": "Turkish",
}  # fmt: skip
"""Languages with a stemmer (LanceDB 0.40, `FTS.language`), by ISO 639-1."""

_UNSPACED: Final = frozenset({"ja", "km", "lo", "my", "th", "zh"})
"""Written without spaces between words, which the dictionaries of ICU4X find (UAX #29, section 4)."""


UNSPACED_LEAST: Final = 0.05
"""Share of chunks from which words are cut by ICU although most chunks have spaces: it finds the words of the
others, and leaves `max_wal_size` whole."""


def full_text_of(counts: Mapping[str | None, int], *, of_stems: bool = False) -> FTS:
    """Return how a column is searched whose chunks are in these languages, numbers by BCP 47 tag.

    Words are stemmed as in the language of most, English before others, unless they are stems already. Stop
    words stay: "who", "when" and "not" tell questions about documentation apart.
    """
    total: Counter[str] = Counter()
    for tag, number in counts.items():
        total[language_of_tag(tag)] += number
    main = min(total, key=lambda one: (-total[one], one != ENGLISH, one), default=ENGLISH)
    unspaced = sum(total[one] for one in _UNSPACED)
    return FTS(
        base_tokenizer="icu" if unspaced > UNSPACED_LEAST * total.total() else "simple",
        stem=main in _STEMMED and not of_stems,
        language=_STEMMED.get(main, _STEMMED[ENGLISH]),
        remove_stop_words=False,
    )


CHUNKS, NODES, EDGES = "chunks", "nodes", "edges"

# By default the driver keeps up to 7 GB; what does not fit here stays in the system's page cache.
_INDEX_CACHE, _METADATA_CACHE = 128 << 20, 64 << 20


def _bucket_options(patience: int) -> dict[str, str]:
    """Options of the driver for a bucket, by which a request takes so many seconds, repetitions included.

    A request that takes all of them is not repeated: each of the driver's own three would wait as long again.
    Over HTTP only where AWS_ENDPOINT_URL says so. Source: docs.lancedb.com/storage/configuration.
    """
    return {
        "allow_http": "true",
        "connect_timeout": f"{min(5, patience)}s",
        "timeout": f"{patience}s",
        "client_retry_timeout": str(patience),
    }


_OF_BUCKET = re.compile(r"Error performing \w+ |Generic (?:S3|GCS|MicrosoftAzure) error")
"""How the driver tells what a bucket failed with. Source: crate object_store, `client/retry.rs`."""

_TYPES: dict[str, pa.DataType] = {
    **dict.fromkeys(("ordinal", "token_count", "page_no"), pa.int64()),
    **dict.fromkeys(("ocr_conf", "structure_confidence"), pa.float64()),
    **dict.fromkeys(
        (
            *("heading_path", "breadcrumbs", "parent_ids", "codes", "anchor_texts", "captions", "tool_names"),
            *("fragments", "code_languages"),
        ),
        pa.list_(pa.string()),
    ),
    **dict.fromkeys(("round_trip", "stale"), pa.bool_()),
    "offsets": pa.list_(pa.int64(), 2),
    "bbox": pa.list_(pa.float64(), 4),
    "page_size": pa.list_(pa.float64(), 2),
}
CHUNK_FIELDS = tuple(f.name for f in fields(Chunk))
TOKENS, STEMS = "token_vectors", "stems"
OPTIONAL: Final = frozenset({TOKENS, STEMS})
"""Columns that only some tables have: vectors of the text's tokens, as float16, and the text by its stems."""
DERIVED_FIELDS = ("heading", "anchors", "codes_text")
"""Columns made from others so that they can be searched as text."""


@cache
def chunk_schema(dim: int, optional: frozenset[str] = frozenset()) -> pa.Schema:
    """Columns of `chunks`: every field of Chunk, the derived ones, four vectors of *dim*, the row's hash.

    Args: optional: which of OPTIONAL there are, too.
    """
    vector = pa.list_(pa.float32(), dim)
    several = pa.list_(vector)
    return pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            *(pa.field(name, _TYPES.get(name, pa.string())) for name in CHUNK_FIELDS if name != "id"),
            *(pa.field(name, pa.string()) for name in DERIVED_FIELDS),
            pa.field("text_vector", vector),
            pa.field("heading_vector", vector),
            pa.field("anchor_vectors", several),
            pa.field("caption_vectors", several),
            *([pa.field(TOKENS, pa.list_(pa.list_(pa.float16(), dim)))] if TOKENS in optional else []),
            *([pa.field(STEMS, pa.string())] if STEMS in optional else []),
            pa.field("row_sha256", pa.string()),
        ]
    )


def _texts(*names: str) -> list[pa.Field]:
    return [pa.field("id", pa.string(), nullable=False), *(pa.field(name, pa.string()) for name in names)]


NODE_SCHEMA = pa.schema(_texts("kind", "doc", "source", "props", "row_sha256"))
EDGE_SCHEMA = pa.schema(
    [
        *_texts("kind", "src", "dst", "doc", "source"),
        pa.field("score", pa.float64()),
        pa.field("props", pa.string()),
        pa.field("row_sha256", pa.string()),
    ]
)

# Codes are matched whole: the default tokenizer ranks "wal size max" above `max_wal_size`.
_CODES = FTS(base_tokenizer="whitespace", stem=False, remove_stop_words=False, max_token_length=None)
_INDEXES: dict[str, dict[str, Any]] = {
    CHUNKS: {
        **dict.fromkeys(("id", "doc", "doc_id", "file_id", "page_no"), BTree()),
        **dict.fromkeys(
            (
                *("kind", "source", "doc_type", "domain", "status", "version", "lang"),
                *("template_type", "page_kind"),
            ),
            Bitmap(),
        ),
        "tool_names": LabelList(),
        **dict.fromkeys(PROSE, full_text_of({})),
        "codes_text": _CODES,
    },
    NODES: {**dict.fromkeys(("id", "doc"), BTree()), **dict.fromkeys(("kind", "source"), Bitmap())},
    EDGES: {
        **dict.fromkeys(("id", "doc", "src", "dst"), BTree()),
        **dict.fromkeys(("kind", "source"), Bitmap()),
    },
}


@contextmanager
def store_errors(table: str) -> Iterator[None]:
    """Turn the driver's errors into StoreUnavailable; ours pass, and Ctrl-C or SIGTERM is itself again."""
    try:
        yield
    except (RuntimeError, OSError, ValueError) as error:
        # As an error of a store it would be tried again, and a run that was told to end would go on.
        if stop := signal_in_error(error):
            raise stop from None
        raise _unavailable(table, error) from error
    except BaseException as error:
        # What the driver does not expect in a file ends in a panic of Rust, which is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise _unavailable(table, error) from error


def _unavailable(table: str, error: BaseException) -> SitegraphError:
    if full := why_no_room(error):
        return NoRoom(f"{full}. {WHAT_TO_DO}", subject=table)
    if _OF_BUCKET.search(str(error)):
        check = what_to_check(BUCKET_NAME)
        return StoreUnavailable(f"cannot be read or written: {plain_reason(error)}; {check}", subject=table)
    return StoreUnavailable(
        f"cannot be read or written: {plain_reason(error)}; if its generation was pruned, start again "
        "from CURRENT",
        subject=table,
    )


def exists(directory: Path, table: str) -> bool:
    """Whether the directory contains the table."""
    return (directory / f"{table}.lance").is_dir()


def why_unlistable(directory: Path, table: str) -> str | None:
    """What keeps the driver from listing the versions of a table, as every compaction does; None: nothing.

    One manifest that rotted stops it, though it be of a version that nobody reads.
    """
    try:
        with store_errors(table):
            connect(directory).open_table(table).list_versions()
    except StoreUnavailable as error:
        return error.message
    return None


def has_tag(directory: Path, table: str, generation: int) -> bool:
    """Whether the version that a generation reads is still named; nothing is opened."""
    return (directory / f"{table}.lance" / "_refs" / "tags" / f"{tag_of(generation)}.json").exists()


def require(directory: Path, *tables: str) -> None:
    """Raise DamageFound unless all *tables* are there."""
    missing = [table for table in tables if not exists(directory, table)]
    if missing:
        raise DamageFound(
            f"has no table {', '.join(missing)}; {remedy(directory.parent)}", subject=str(directory)
        )


def open_cache_session(cache_mb: int) -> lancedb.Session:
    """Return what connections share their caches by: three quarters for search indexes, one for metadata.

    Without one, each connection may fill 7 GiB.
    """
    quarter = cache_mb * 1024 * 1024 // 4
    return lancedb.Session(index_cache_size_bytes=3 * quarter, metadata_cache_size_bytes=quarter)


def connect(directory: Path, session: lancedb.Session | None = None) -> lancedb.DBConnection:
    """Open the directory; nothing is read yet."""
    session = session or lancedb.Session(
        index_cache_size_bytes=_INDEX_CACHE, metadata_cache_size_bytes=_METADATA_CACHE
    )
    # The driver reads the endpoint and the credentials of a bucket from where fsspec does.
    bucket = bucket_of(directory)
    options = _bucket_options(bucket.patience) if bucket is not None else None
    with store_errors(directory.name):
        return lancedb.connect(address_of(directory), session=session, storage_options=options)


def table_address(database: lancedb.DBConnection, name: str) -> Address:
    """Where a table is, for another driver than lancedb's, and the options of its storage."""
    options: dict[str, str] | None = getattr(database, "storage_options", None)
    return f"{database.uri}/{name}.lance", options


def create_table(directory: Path, name: str, schema: pa.Schema, *, indexes: str | None = None) -> None:
    """Make an empty table with its key and search indexes, named generation 0; a whole one is left alone.

    Indexes are declared while the table is empty, and filled by `optimize`; a search also reads rows that
    no index contains yet.

    Args: indexes: the table whose search indexes it gets, where not those of its own name.
    """
    make_folder(directory)
    database = connect(directory)
    with store_errors(name):
        if exists(directory, name):
            if database.open_table(name).tags.list():
                return
            database.drop_table(name)  # a crash came between its making and its naming
        table = database.create_table(name, schema=schema)
        table.set_unenforced_primary_key("id")
        stems = {STEMS: full_text_of({}, of_stems=True)} if STEMS in schema.names else {}
        for column, config in (_INDEXES[indexes or name] | stems).items():
            if isinstance(config, BTree):
                declare_btree(*table_address(database, name), column)
                table.checkout_latest()
            else:
                table.create_index(column, config=config)
        name_version(table, tag_of(0), table.version)


def name_version(table: Table, tag: str, version: int) -> None:
    """Name a version of a table, by a new tag or one that is there already.

    Where the answer of a bucket was lost the driver tries again, and takes its own tag for somebody else's.
    """
    if tag in table.tags.list():
        table.tags.update(tag, version)
        return
    try:
        table.tags.create(tag, version)
    except RuntimeError:
        if table.tags.list().get(tag, {}).get("version") != version:
            raise


def open_table(database: lancedb.DBConnection, name: str, schema: pa.Schema) -> Table:
    """Open a table at its newest version.

    Raises: SchemaMismatch: its columns are not *schema*'s, as with another encoder's dimension.
    """
    with store_errors(name):
        table = database.open_table(name)
        found = table.schema
    if not found.equals(schema):
        differing = [f.name for f in schema if f.name not in found.names or not found.field(f.name).equals(f)]
        message = (
            f"columns {', '.join(differing) or 'left over'} differ from this version's; rebuild the index"
        )
        raise SchemaMismatch(message, subject=name)
    return table


def open_at(database: lancedb.DBConnection, name: str, schema: pa.Schema, generation: int) -> Table:
    """Open a table as *generation* left it; only for reading, although `merge_insert` would go through.

    Raises: StoreUnavailable: no such generation, or it was pruned.
    """
    table = open_table(database, name, schema)
    with store_errors(name):
        table.checkout(tag_of(generation))
    return table
