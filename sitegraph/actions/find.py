"""Which document, node or generation a person means by what they typed, and what stands around it."""

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from flows.run.index import Index
from indexes.ports import GraphReader
from indexes.publish.generation import generation_numbers
from indexes.stores.ledger.documents import Lookup
from ingest.plan.scope import scope_refusal
from ingest.urls import canonical_url, file_url, folder_of, is_file_url
from retrieval.question.ids import looks_like_id, resolve_node_id, states_kind
from schemas.documents import KnownDocument
from schemas.edges import EdgeKind
from schemas.errors import ConfigError
from schemas.source import Source
from sitegraph.actions.neighbourhood import ShownGraph, documents_meant, known_address, show_around

_DOCUMENT_ID = re.compile(r"(?:page|pdfdoc):[a-z2-7]{26}")
_NEIGHBOURS = 1000
_SHOWN = 5


def find_documents(index: Index, name: str, *, source: str | None) -> tuple[KnownDocument, ...]:
    """Return the documents meant by *name*, one for each source that knows it.

    *name* is a URL or the end of one, a `files://` URI, a path of a files source, a node id or its beginning,
    or the document's own id.

    Raises: ConfigError: no source of that name, no such document, or several; the message says what is near,
    or why it does not belong.
    """
    sources = index.ledger.sources.all()
    names = {*sources, *index.ledger.documents.states()}
    if source is not None and source not in names:
        have = ", ".join(sorted(names)) or "none"
        raise ConfigError(f"no such source; this index has: {have}", subject=source)
    wanted = {n: known for n, known in sources.items() if source in (None, n)}
    uris = tuple(_uris(name, wanted))
    found = [document for document in _known(index, name, uris) if source in (None, document.source)]
    if found:
        return tuple(found)
    ending = [d for d in _ending(index, name) if source in (None, d.source)]
    if len({document.uri for document in ending}) > 1:
        raise ConfigError(_several(ending), subject=name)
    if not ending and looks_like_id(name) and not _DOCUMENT_ID.fullmatch(name):
        return _of_node(index, name)
    if not ending:
        raise ConfigError(_unknown(index.ledger.lookup, name, uris, wanted), subject=name)
    return tuple(ending)


def _known(index: Index, name: str, uris: tuple[str, ...]) -> tuple[KnownDocument, ...]:
    lookup = index.ledger.lookup
    if _DOCUMENT_ID.fullmatch(name):
        return lookup.by_doc(name)
    if states_kind(name):
        return _of_node(index, name)
    return lookup.by_uris(uris) or lookup.by_doc_id(name)


def _of_node(index: Index, name: str) -> tuple[KnownDocument, ...]:
    """Documents of the node whose id *name* is, or begins."""
    graph = index.graph.at(index.current())
    nodes = graph.nodes([resolve_node_id(graph, name)])
    return tuple(document for node in nodes for document in index.ledger.lookup.by_doc(node.doc))


def _ending(index: Index, name: str) -> tuple[KnownDocument, ...]:
    """Documents whose address ends with what was typed, as people name a page by its file."""
    if "://" in name or not (place := known_address(name)):
        return ()
    return index.ledger.lookup.ending_with(place, limit=_SHOWN + 1)


def _several(found: Sequence[KnownDocument]) -> str:
    shown = ", ".join(document.uri for document in found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
    return f"is the end of several addresses ({shown}); give more of it"


def _uris(name: str, sources: Mapping[str, Source]) -> Iterator[str]:
    """Addresses that *name* may stand for: itself, or a file below the root of a source."""
    if states_kind(name):
        return
    if "://" in name:
        routed = any(source.javascript for source in sources.values())
        if (uri := canonical_url(name, routed=routed)) is not None:
            yield uri
        return
    for source in sources.values():
        if not source.seeds:
            yield from (file_url(source.name, path) for path in _paths(name, source.roots))


def _paths(name: str, roots: Iterable[str]) -> Iterator[str]:
    """The name as a path below a root, and as one below the working folder that lies below a root."""
    yield name.removeprefix("./")
    whole = Path(name).absolute()
    for root in map(Path, roots):
        if whole.is_relative_to(root):
            yield whole.relative_to(root).as_posix()


def _unknown(lookup: Lookup, name: str, uris: tuple[str, ...], sources: Mapping[str, Source]) -> str:
    if "://" in name and not uris:
        return "is not an address that a document can have; give an http, https or files URL"
    refusals = {
        source.name: scope_refusal(uri, source)
        for source in sources.values()
        for uri in uris
        if is_file_url(uri) != bool(source.seeds)
    }
    if refusals and all(refusals.values()):
        return "; ".join(f"out of scope of {source}: {why}" for source, why in sorted(refusals.items()))
    near = nearest(lookup, name, uris)
    hint = f"; the nearest that is known: {near}" if near else ""
    if "://" in name:
        return f"not known: no seed, link, sitemap or redirect has led to it{hint}"
    return f"no document has this path or id{hint}"


def nearest(lookup: Lookup, name: str, uris: Iterable[str]) -> str | None:
    """Return the known document id, or address, that looks most like what was asked for."""
    if "://" not in name and (ids := get_close_matches(name.upper(), lookup.doc_ids(limit=_NEIGHBOURS), n=1)):
        return ids[0]
    for uri in uris:
        folder = folder_of(uri)
        while folder.count("/") > 2:
            below = lookup.uris_below(folder, limit=_NEIGHBOURS)
            if close := get_close_matches(uri, below, n=1, cutoff=0.0):
                return close[0]
            folder = folder[: folder.rstrip("/").rfind("/") + 1]
    return None


def kept_generation(index: Index, wanted: int | None) -> int:
    """Return the generation to read: the current one unless another is asked for.

    Raises: ConfigError: that one is not kept (any more).
    """
    if wanted is None:
        return index.current()
    kept = generation_numbers(index.layout)
    if wanted not in (0, *kept):
        have = ", ".join(map(str, kept)) or "none"
        raise ConfigError(f"generation {wanted} is not kept; kept: {have}", subject="--generation")
    return wanted


def show_neighbourhood(
    index: Index,
    name: str,
    *,
    hops: int,
    limit: int,
    kinds: Collection[EdgeKind] = (),
    source: str | None = None,
) -> ShownGraph:
    """Walk from what *name* means, a node id or whatever `find_documents` takes; no *kinds* are all kinds.

    Raises: ConfigError: nothing of that name, or nothing of it in what readers see.
    """
    generation = index.current()
    graph = index.graph.at(generation)
    return show_around(
        _find_start(index, graph, name, source),
        graph=graph,
        chunks=index.chunks.at(generation),
        generation=generation,
        hops=hops,
        limit=limit,
        kinds=kinds,
    )


def _find_start(index: Index, graph: GraphReader, name: str, source: str | None) -> tuple[str, ...]:
    if states_kind(name):
        return (resolve_node_id(graph, name),)
    known = find_documents(index, name, source=source)
    found = tuple(node.id for node in graph.nodes(documents_meant(index.ledger.lookup, known)))
    if not found:
        states = ", ".join(sorted({document.state.value for document in known}))
        raise ConfigError(
            f"is not in this generation ({states}); ask: sitegraph why {shlex.quote(name)}", subject=name
        )
    return found
