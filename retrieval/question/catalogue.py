"""Which names in a question the index knows, and which versions of manuals it is asked of."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from indexes.families import Manual
from indexes.ports import ChunkReader, Vector
from retrieval.question.ids import bind_ids
from retrieval.question.route import Known
from retrieval.question.words import code_tokens, fold
from schemas.errors import FilterError
from schemas.evidence import Filter, Hit, LeftOut, Query, SearchField
from schemas.families import Edition
from schemas.names import leading_code
from schemas.nodes import Chunk

_HOLDERS = 200
_NAME_WORDS_MAX = 12


def look_up(
    chunks: ChunkReader, text: str, vector: Vector, headings: Collection[Hit], anchors: Collection[Hit]
) -> Known:
    """Ask the chunk store which ids, codes and names of *text* it contains, whatever the filters.

    An id-shaped token (`GOV-0017`, `UTF-8`) is known only as some document's own id: standards are
    written the same way, and half of a site may mention them.
    """
    bound = bind_ids(chunks, text, vector)
    documents = bound.all
    codes = [token for token in code_tokens(text) if documents or leading_code(token) is None]
    held = {code: chunks.search_text(SearchField.CODES, code, top_k=_HOLDERS) for code in codes}
    near = [hit.chunk_id for hits in (headings, anchors) for hit in tuple(hits)[:10]]
    names = {name for chunk in chunks.get(sorted(set(near))) for name in _names(chunk)}
    whole = f" {fold(text)} "
    holders = {code: tuple(hit.chunk_id for hit in hits) for code, hits in held.items() if hits}
    return Known(
        holders=holders,
        documents=documents,
        unbound=bound.problems,
        is_name=len(text.split()) <= _NAME_WORDS_MAX and fold(text) in names,
        names=tuple(sorted(name for name in names if name and f" {name} " in whole)),
    )


def _names(chunk: Chunk) -> set[str]:
    return {fold(name) for name in (*chunk.heading_path[-1:], *chunk.breadcrumbs[-1:], *chunk.anchor_texts)}


def codes_to_search(text: str) -> str:
    """What to look for in the `codes` column: ids first, then the other codes; empty if there are none."""
    prefixes: Mapping[str, None] = dict.fromkeys(
        part for token in code_tokens(text) for part in (token, leading_code(token)) if part
    )
    return " ".join(prefixes)


LATEST, ALL = "latest", "all"
_TELLING = ("source", "doc", "version")
"""Fields of a filter that are known of an edition."""

SUBJECT = "version"


def bind_version(query: Query, manuals: Sequence[Manual]) -> Query:
    """Fill in what the version that a query asks for leaves out, of the manuals of one generation.

    Without a version, and with `latest`, that is every document of which the filters leave a preferred
    version; with `all` nothing; with `15` or `postgresql=15` what the manual has of other versions, while
    manuals without that version answer from their latest.
    Raises: FilterError: no manual has that version; the message names those there are.
    """
    wanted = query.version or LATEST
    if wanted == ALL:
        return replace(query, left_out=())
    asked = {} if wanted == LATEST else _manuals_with(wanted, manuals)
    left_out: list[LeftOut] = []
    for manual in manuals:
        version = asked.get(manual.name)
        left_out += _latest(manual, query.filters) if version is None else _exactly(manual, version)
    return replace(query, left_out=tuple(left_out))


def _manuals_with(wanted: str, manuals: Sequence[Manual]) -> dict[str, str]:
    """Return the version that is asked of each manual that has it."""
    family, _, version = wanted.rpartition("=")
    found = [one.name for one in manuals if version in one.versions and family in ("", one.name)]
    if not found:
        raise _unknown(wanted, manuals)
    return dict.fromkeys(found, version)


def _unknown(wanted: str, manuals: Sequence[Manual]) -> FilterError:
    if not manuals:
        return FilterError(
            "this index has no manual with versions; set `family` in a source file",
            subject=f"{SUBJECT} {wanted!r}",
        )
    return FilterError(
        f"no manual has it; known: {'; '.join(tell_versions(one) for one in manuals)}",
        subject=f"{SUBJECT} {wanted!r}",
    )


def tell_versions(manual: Manual) -> str:
    """Return the name of a manual and its versions, the preferred one first."""
    return f"{manual.name} {', '.join(manual.versions)}"


def _latest(manual: Manual, filters: Collection[Filter]) -> tuple[LeftOut, ...]:
    """Leave out older versions of documents, among those that the filters leave as far as can be told."""
    telling = tuple(one for one in filters if one.field in _TELLING)
    return _older_than_latest(manual, telling)


@lru_cache(maxsize=32)
def _older_than_latest(manual: Manual, filters: tuple[Filter, ...]) -> tuple[LeftOut, ...]:
    among = {one.doc for one in manual.all_editions() if _may_pass(one, filters)}
    shown = {one.doc: one for one in manual.newest(among)}
    hidden = [one for one in manual.all_editions() if one.doc in among and one.doc not in shown]
    if not hidden:
        return ()
    older = {one.version for one in hidden}
    exempt = sorted(one.doc for one in shown.values() if one.version in older)
    if len(hidden) <= len(exempt):
        return (LeftOut(where=(Filter(field="doc", values=tuple(sorted(one.doc for one in hidden))),)),)
    where = (_of_sources(manual), Filter(field="version", values=tuple(sorted(older))))
    return (LeftOut(where=where, unless=(Filter(field="doc", values=tuple(exempt)),) if exempt else ()),)


def _exactly(manual: Manual, version: str) -> tuple[LeftOut, ...]:
    others = tuple(sorted(one for one in manual.versions if one != version))
    return (LeftOut(where=(_of_sources(manual), Filter(field="version", values=others))),) if others else ()


def _of_sources(manual: Manual) -> Filter:
    return Filter(field="source", values=manual.sources)


def _may_pass(edition: Edition, filters: Collection[Filter]) -> bool:
    """Whether filters on what is known of an edition let it pass."""
    return all(getattr(edition, one.field) in one.values for one in filters)
