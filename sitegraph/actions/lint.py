"""What the linter finds in a generation: its documents, ids and faults of links, held to the rules."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flows.run.index import Index
from indexes.ports import ChunkReader
from ingest.link.links import redirect_ends, resolve_targets
from ingest.parse.formats.registry import file_suffixes
from ingest.parse.round_trip import names_in
from ingest.plan.scope import is_inside, seed_urls
from ingest.urls import file_path, is_file_url
from retrieval.lint.catalogue import RULES
from retrieval.lint.site import (
    FaultyLink,
    LinkFault,
    LintDocument,
    LintedSite,
    LintFinding,
    in_order,
    select_findings,
)
from runtime.progress import StageProgress
from schemas.documents import DocumentState, KnownDocument, LiveDocument
from schemas.edges import LinkPosition
from schemas.errors import ConfigError, DamageFound
from schemas.fragment import GraphFragment, Link
from schemas.nodes import Chunk, DocumentKind, Page, Section, is_document
from schemas.records import from_record, show_as
from schemas.source import Source
from sitegraph.actions.lint_report import from_folder, with_lines

_ODD = re.compile(r"[\W_]+")


class IdsOfPages:
    """Answers for pages of one generation, each read once."""

    def __init__(self, index: Index, generation: int) -> None:
        self._index, self._generation = index, generation
        self._known: dict[str, frozenset[str] | None] = {}

    def lacks(self, doc: str, fragment: str) -> bool:
        """Whether a page surely has no element with that id, of whatever kind the element is.

        The page is read as it was fetched, since ids around the content count, too. Nothing is sure of other
        formats than HTML and Markdown, of bytes that are not kept, and of Markdown where only the way differs
        in which a generator makes ids of headings.
        """
        if doc not in self._known:
            self._known[doc] = self._read(doc)
        names = self._known[doc]
        return names is not None and fragment not in names and _plain(fragment) not in names

    def _read(self, doc: str) -> frozenset[str] | None:
        live = self._index.ledger.generations.live(self._generation, docs=(doc,))
        node = next(iter(self._index.graph.at(self._generation).nodes([doc])), None)
        kind = node.document_kind if isinstance(node, Page) else None
        if doc not in live or kind not in (DocumentKind.HTML, DocumentKind.MARKDOWN):
            return None
        text = self._text(live)
        if text is None:
            return None
        names = names_in(text)
        if kind == DocumentKind.HTML:
            return names
        nodes = self._index.graph.at(self._generation).nodes_of([doc])
        headings = {node.heading for node in nodes if isinstance(node, Section)}
        return names | {_plain(name) for name in (*names, *headings)}

    def _text(self, live: Mapping[str, LiveDocument]) -> str | None:
        """Return what was fetched; ids are ASCII in nearly all encodings, so they are read as Latin-1."""
        (one,) = live.values()
        known = self._index.ledger.documents.get(one.source, [one.uri]).get(one.uri)
        if known is None or not known.raw_sha or known.parsed_sha != known.raw_sha:
            return None
        try:
            data = self._index.raw.get(known.raw_sha)
        except DamageFound:
            return None
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data.decode("latin-1")


def _plain(name: str) -> str:
    """Return letters and digits alone: generators differ in how they join the words of a heading."""
    return _ODD.sub("", name).casefold()


_NO_ID = re.compile(r"^(?:top|!.*|/.*|.*:~:.*|.*=.*|L\d+(?:-L?\d+)?)?$", re.IGNORECASE)
"""Fragments that are no ids: the top of a page, routes of scripts, text directives, lines of code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What is known of the targets of links.

    `docs` has the documents that addresses lead to, over redirects, too. `missing` says why an address leads
    nowhere, and `moved` where it leads to instead; both are empty where it is as it should be, or unknown.
    `lacks` says of a document whether it surely has no element with an id. `shown` is an address for people.
    """

    docs: Mapping[str, str]
    missing: Callable[[str], str]
    moved: Callable[[str], str]
    lacks: Callable[[str, str], bool]
    shown: Callable[[str], str]


def faulty_links(fragment: GraphFragment, targets: Targets) -> Iterator[FaultyLink]:
    """Yield the links of a document that do not lead where they say, in its order."""
    for link in fragment.links:
        doc = targets.docs.get(link.target)
        if doc is None:
            if why := targets.missing(link.target):
                yield _faulty(fragment, link, LinkFault.MISSING, why, targets)
            continue
        end = targets.moved(link.target)
        if end and is_file_url(link.target):  # nothing redirects from a file that is gone
            why = f"which is not there; what it said is in {end}"
            yield _faulty(fragment, link, LinkFault.MISSING, why, targets)
        elif link.fragment and not _NO_ID.match(link.fragment) and targets.lacks(doc, link.fragment):
            yield _faulty(fragment, link, LinkFault.NO_FRAGMENT, "an id that is not on that page", targets)
        elif end and doc != fragment.doc:
            yield _faulty(fragment, link, LinkFault.REDIRECTED, f"which leads on to {end}", targets)


def in_known_folder(path: str, known: Collection[str]) -> bool:
    """Whether a path is in the top folder of one of *known*: `/usr/share/a.html` on its pages is not.

    Such a link leads to another part of the server that the folder will be put on.
    """
    top, below, _ = path.partition("/")
    return not below or any(one.startswith(f"{top}/") for one in known)


def linked_from(fragment: GraphFragment, docs: Mapping[str, str]) -> Iterator[tuple[str, LinkPosition]]:
    """Yield the other documents that a document links to, and from where on it."""
    for link in fragment.links:
        doc = docs.get(link.target)
        if doc is not None and doc != fragment.doc:
            yield doc, link.position


def _faulty(fragment: GraphFragment, link: Link, fault: LinkFault, why: str, targets: Targets) -> FaultyLink:
    return show_as(
        FaultyLink,
        link,
        doc=fragment.doc,
        shown=targets.shown(link.target),
        fault=fault,
        fragment=link.fragment if fault is LinkFault.NO_FRAGMENT else None,
        chunk=next((place.chunk for place in link.places), None),
        why=why,
    )


_PART = 100
_START = frozenset({"index", "readme", "home", "default", "contents", "toc", "_index"})
"""Names of files that readers are sent to without a link."""
_ABSENT = frozenset({DocumentState.MISSING, DocumentState.GONE})


def lint_index(
    index: Index,
    generation: int,
    loaded: Source | None,
    *,
    source: str | None,
    rules: Sequence[str],
    progress: StageProgress,
    warn: Callable[[str], None],
) -> tuple[LintFinding, ...]:
    """Return what *rules* find in all sources, in *source*, or in *loaded*, as its lint block says.

    Places in files are told from the working folder.

    Raises: ConfigError: no such source. StoreUnavailable: a store or the ledger is not there.
    """
    sources = dict(index.ledger.sources.all())
    name = loaded.name if loaded is not None else source
    if name is not None and name not in index.ledger.documents.states():
        have = ", ".join(sorted(sources)) or "none"
        raise ConfigError(f"no such source; this index has: {have}", subject=name)
    if loaded is not None:
        sources[loaded.name] = loaded
    for unknown in _unknown_rules(sources.values()):
        warn(unknown)
    site = _read_site(index, generation, source=name, sources=sources, progress=progress)
    found = [one for id_ in progress.over("lint", rules, total=len(rules)) for one in RULES[id_].find(site)]
    kept = select_findings(in_order(found), {each.name: each.lint for each in sources.values()})
    return from_folder(with_lines(kept, index), sources, Path.cwd())


def _unknown_rules(sources: Iterable[Source]) -> Iterator[str]:
    """Say that a source file switches off a rule that is none: a typing error looks just so."""
    for each in sources:
        named = {*each.lint.disable, *(one.rule for one in each.lint.ignore)} - {"*"}
        for rule in sorted(named - RULES.keys()):
            yield f"{each.name}: lint names {rule}, which is not a rule; known: {', '.join(RULES)}"


def _read_site(
    index: Index,
    generation: int,
    *,
    source: str | None,
    sources: Mapping[str, Source],
    progress: StageProgress,
) -> LintedSite:
    """Read all documents of a generation, or of one source, with their passages and faulty links.

    *sources* say what is in scope. Links from and to documents of other sources count for reachability.

    Raises: StoreUnavailable: a store or the ledger is not there.
    """
    everything = index.ledger.generations.live(generation)
    live = {doc: one for doc, one in everything.items() if source in (None, one.source)}
    documents = dict(_documents(index, generation, live, sources))
    texts = index.chunks.at(generation)
    passages = tuple(_passages(texts, tuple(documents), progress))
    faulty: list[FaultyLink] = []
    linked: dict[str, set[LinkPosition]] = {}
    reader = _LinkReader(index, generation, sources)
    for known, fragment in progress.over("links", _fragments(index, everything), total=len(everything)):
        targets = reader.targets(fragment, source=known.source)
        if known.doc in documents:
            faulty.extend(faulty_links(fragment, targets))
        for doc, position in linked_from(fragment, targets.docs):
            linked.setdefault(doc, set()).add(position)
    return LintedSite(
        documents=documents,
        passages=passages,
        faulty=tuple(faulty),
        linked_from={doc: frozenset(positions) for doc, positions in sorted(linked.items())},
    )


def _documents(
    index: Index, generation: int, live: Mapping[str, LiveDocument], sources: Mapping[str, Source]
) -> Iterator[tuple[str, LintDocument]]:
    graph = index.graph.at(generation)
    docs = list(live)
    for start in range(0, len(docs), _PART):
        for node in graph.nodes(docs[start : start + _PART]):
            if not is_document(node):
                continue
            known = live[node.id]
            kind = node.document_kind if isinstance(node, Page) else DocumentKind.PDF
            place = {"doc": node.id, "source": known.source, "uri": known.uri}
            is_start = _is_start(known.uri, sources.get(known.source))
            yield node.id, show_as(LintDocument, node, **place, kind=kind, start=is_start)


def _is_start(uri: str, source: Source | None) -> bool:
    """Whether readers come to a document without a link: a seed, or the index page of a folder."""
    if source is not None and uri in seed_urls(source):
        return True
    name = uri.partition("?")[0].rpartition("/")[2]
    return not name or name.partition(".")[0].casefold() in _START


def _passages(texts: ChunkReader, docs: tuple[str, ...], progress: StageProgress) -> Iterator[Chunk]:
    parts = [docs[start : start + _PART] for start in range(0, len(docs), _PART)]
    for part in progress.over("read", parts, total=len(parts)):
        yield from texts.of_documents(part)


def _fragments(
    index: Index, live: Mapping[str, LiveDocument]
) -> Iterator[tuple[LiveDocument, GraphFragment]]:
    """Yield parsed documents; one that a lost ledger does not know the place of is left out.

    Raises: DamageFound: a parsed document is damaged or lost.
    """
    for known in live.values():
        if known.fragment_sha:
            yield known, from_record(GraphFragment, json.loads(index.fragments.get(known.fragment_sha)))


class _LinkReader:
    """What the index knows of where links lead; asks for the targets of one document at a time."""

    def __init__(self, index: Index, generation: int, sources: Mapping[str, Source]) -> None:
        self._index, self._generation, self._sources = index, generation, sources
        self._redirects = index.ledger.redirects.at(generation)
        self._ends = redirect_ends(self._redirects)
        self._known_paths: dict[str, tuple[str, ...]] = {}
        self._ids = IdsOfPages(index, generation)
        self._suffixes = tuple(file_suffixes())

    def targets(self, fragment: GraphFragment, *, source: str) -> Targets:
        wanted = {link.target for link in fragment.links}
        docs = resolve_targets(
            wanted,
            redirects=self._ends,
            live=lambda some: self._index.ledger.generations.live(self._generation, docs=some),
        )
        known = self._index.ledger.documents.get(source, wanted - docs.keys())
        return Targets(
            docs=docs,
            missing=lambda target: self._why_missing(source, target, known.get(target)),
            moved=self._moved,
            lacks=self._ids.lacks,
            shown=_shown,
        )

    def _why_missing(self, name: str, target: str, known: KnownDocument | None) -> str:
        """Say what is known of an address that no document has; nothing where it was never looked at."""
        source = self._sources.get(name)
        if source is None or not is_inside(source, target):
            return ""
        if known is not None:
            if known.state in _ABSENT or known.http_status in (404, 410):
                return f"which {'is not there' if is_file_url(target) else _answered(known)}"
            return ""
        if not is_file_url(target) or not target.partition("?")[0].endswith(self._suffixes):
            return ""
        surely = in_known_folder(file_path(target), self._paths(name)) and not _lies_there(source, target)
        return "which is not there" if surely else ""

    def _paths(self, source: str) -> tuple[str, ...]:
        """Return the paths of the documents of a source of files."""
        if source not in self._known_paths:
            live = self._index.ledger.generations.live(self._generation, source=source)
            self._known_paths[source] = tuple(file_path(one.uri) for one in live.values())
        return self._known_paths[source]

    def _moved(self, target: str) -> str:
        end = self._ends.get(target)
        return _shown(end) if end is not None else ""


def _lies_there(source: Source, target: str) -> bool:
    """Whether a file is in its folder, though it is no document: too large, or not read yet."""
    return any((Path(root) / file_path(target)).exists() for root in source.roots)


def _answered(known: KnownDocument) -> str:
    return f"answers {known.http_status}" if known.http_status in (404, 410) else "is gone"


def _shown(uri: str) -> str:
    return file_path(uri) if is_file_url(uri) else uri
