"""Whether a page may be trusted: what it rests on is as it was, and nothing current says otherwise."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from indexes.ports import ChunkReader, GraphReader
from retrieval.question.words import fold
from retrieval.wiki.page import AnswerSet, Contradiction, Fact, PageProblem, PageStatus, WikiPage
from retrieval.wiki.store import Wiki
from retrieval.wiki.subgraph import node_label
from schemas.edges import FRONT_MATTER_KINDS, Edge, EdgeKind
from schemas.errors import ConfigError, ParseError, StoreUnavailable
from schemas.ids import sha256_hex
from schemas.nodes import Node, Page, PdfDoc, is_document

DOCUMENTS_MAX = 5_000
"""Documents of an index up to which an answer may rest on the set of them; each question reads it again."""
NAMED_MAX = 6
"""Nodes of a question whose edges are kept; a page is no index of the graph."""

_ALL = frozenset({*FRONT_MATTER_KINDS, EdgeKind.RELATED})
_RELATIONS: tuple[tuple[str, frozenset[EdgeKind]], ...] = (
    (r"depend\w*|rel(?:y|ies|ied) (?:up)?on|prerequisites?", frozenset({EdgeKind.DEPENDS_ON})),
    (r"supersed\w*|replaces|replaced by", frozenset({EdgeKind.SUPERSEDES})),
    (r"links? to|linked (?:to|from)|refers? to", frozenset({EdgeKind.LINKS_TO})),
    (r"mentions?|mentioned", frozenset({EdgeKind.MENTIONS})),
    (r"(?:is|are|was|were|be)\b.*\b(?:related|connected|joined)|relates?\b.*\bto|relations?(?:hips?)?", _ALL),
)
_LISTS = r"\b(?:which|what|how many|list|name|show|all|every|each|any|are there)\b"
_DOCUMENTS = rf"{_LISTS}.*\b(?:documents|pages|docs|files)\b|\b(?:every|each) (?:document|page|file)\b"


def asks_for_set(question: str) -> bool:
    """Whether what answers *question* is a set by its words: what depends on X, which pages say so.

    >>> asks_for_set("What depends on the lease daemon?"), asks_for_set("What is the lease daemon?")
    (True, False)
    """
    return bool(kinds_asked(question) or re.search(_DOCUMENTS, question, re.IGNORECASE))


def kinds_asked(question: str) -> frozenset[EdgeKind]:
    """Return the kinds of edges that *question* names, and those of entities; none where it names none."""
    named = [kinds for words, kinds in _RELATIONS if re.search(rf"\b(?:{words})\b", question, re.IGNORECASE)]
    return frozenset({EdgeKind.RELATED}.union(*named)) if named else frozenset()


def sets_of(question: str, nodes: Collection[str], graph: GraphReader) -> tuple[AnswerSet, ...]:
    """Return the sets that *question* ranges over, as *graph* has them; none where it ranges over none.

    Edges of the kinds that it names at each of *nodes*, two hops into it and two out of it, as far as an
    answer follows them. Else, where it lists documents, those of the type that it names, or all.

    Raises: StoreUnavailable: the graph does not answer.
    """
    kinds = kinds_asked(question)
    if kinds:
        known = graph.nodes(tuple(nodes)[:NAMED_MAX])
        written = ", ".join(sorted(kinds))
        asked = tuple(AnswerSet(kinds=written, node=one.id, name=node_label(one)) for one in known)
    else:
        asked = _documents_asked(question, graph)
    found = read_sets(graph, asked)
    return tuple(found[one.key] for one in asked if one.key in found)


def _documents_asked(question: str, graph: GraphReader) -> tuple[AnswerSet, ...]:
    if not re.search(_LISTS, question, re.IGNORECASE):
        return ()
    types = {one.doc_type for one in _documents(graph) or () if one.doc_type}
    named = [kind for kind in sorted(types) if re.search(_plural(kind), question, re.IGNORECASE)]
    if named:
        return tuple(AnswerSet(documents=f"doc_type={kind}", name=kind) for kind in named)
    return (AnswerSet(documents="*", name="all"),) if re.search(_DOCUMENTS, question, re.IGNORECASE) else ()


def _plural(doc_type: str) -> str:
    """Return a pattern of documents of a type: policies, runbooks, governance documents."""
    words = r"[\s_-]".join(map(re.escape, re.findall(r"\w+", doc_type)))
    many = rf"{words[:-1]}ies" if words.endswith("y") else rf"{words}(?:e?s)"
    return rf"\b(?:{many}|{words} (?:documents|pages|docs|files))\b"


def read_sets(graph: GraphReader, sets: Collection[AnswerSet]) -> Mapping[tuple[str, ...], AnswerSet]:
    """Return *sets* by their keys as they are now, in four calls for the edges of each group of kinds.

    Raises: StoreUnavailable: the graph does not answer.
    """
    groups: dict[str, list[AnswerSet]] = defaultdict(list)
    for one in sets:
        groups[one.kinds].append(one)
    found: dict[tuple[str, ...], AnswerSet] = {}
    for kinds, group in groups.items():
        members = _members(graph, kinds, group) if kinds else _of_documents(graph, group)
        found |= {one.key: _filled(one, members[one.key]) for one in group if one.key in members}
    return found


def _filled(asked: AnswerSet, members: Iterable[str]) -> AnswerSet:
    listed = sorted(set(members))
    return replace(asked, count=str(len(listed)), sha256=sha256_hex("\n".join(listed)))


def _members(graph: GraphReader, kinds: str, group: Collection[AnswerSet]) -> dict[tuple[str, ...], set[str]]:
    wanted = {kind for kind in EdgeKind if kind.value in kinds.split(", ")}
    nodes = sorted({one.node for one in group})
    into = _two_hops(nodes, lambda ids: [(e.dst, e.src, e) for e in graph.edges_to(ids, kinds=wanted)])
    out = _two_hops(nodes, lambda ids: [(e.src, e.dst, e) for e in graph.edges_from(ids, kinds=wanted)])
    return {one.key: into[one.node] | out[one.node] for one in group}


def _two_hops(
    nodes: Collection[str], read: Callable[[Collection[str]], list[tuple[str, str, Edge]]]
) -> dict[str, set[str]]:
    """Return what the edges say that lead on from each node, and from where these lead to."""
    first = read(nodes)
    second = read(sorted({beyond for _, beyond, _ in first} - set(nodes))) if first else []
    at: dict[str, list[tuple[str, Edge]]] = defaultdict(list)
    for here, beyond, edge in (*first, *second):
        at[here].append((beyond, edge))
    return {
        node: {_said(edge) for place in (node, *(beyond for beyond, _ in at[node])) for _, edge in at[place]}
        for node in nodes
    }


def _said(edge: Edge) -> str:
    return " ".join((edge.kind.value, edge.src, edge.dst, edge.predicate or ""))


def _of_documents(graph: GraphReader, group: Collection[AnswerSet]) -> dict[tuple[str, ...], set[str]]:
    """Return the documents of each filter with what they say; nothing of an index of too many."""
    listed = _documents(graph)
    if listed is None:
        return {}
    return {
        one.key: {
            f"{document.id} {document.content_hash}"
            for document in listed
            if one.documents in ("*", f"doc_type={document.doc_type}")
        }
        for one in group
    }


def _documents(graph: GraphReader) -> tuple[Page | PdfDoc, ...] | None:
    kinds = ("page:", "pdfdoc:")
    ids = [one for kind in kinds for one in graph.ids_between(kind, f"{kind}~", limit=DOCUMENTS_MAX + 1)]
    if len(ids) > DOCUMENTS_MAX:
        return None
    nodes: tuple[Node, ...] = graph.nodes(ids) if ids else ()
    return tuple(node for node in nodes if is_document(node))


def current_sets(graph: GraphReader | None, pages: Iterable[WikiPage]) -> Mapping[tuple[str, ...], AnswerSet]:
    """Return the sets that *pages* rest on as they are now; none where there is no graph, or it went away."""
    sets = {one.key: one for page in pages for one in page.ranges_over}
    if graph is None or not sets:
        return {}
    try:
        return read_sets(graph, tuple(sets.values()))
    except StoreUnavailable:
        return {}


SINGLE_VALUED = frozenset(
    {
        *("born in", "born on", "died in", "died on", "founded in", "founded on", "built in", "capital of"),
        *("located in", "based in", "headquartered in", "owned by", "maintained by", "led by", "operated by"),
        *("replaced by", "superseded by", "managed by", "succeeded by", "owner", "maintainer", "status"),
        *("version of", "released in", "released on", "published in", "published on", "set to", "kept in"),
    }
)
"""Predicates with one value at a time; a person may be the author of two books and is born once."""

FactsByKey = Mapping[tuple[str, str], Collection[tuple[str, Fact]]]
"""Pages and facts by the folded subject and the bare predicate that they share."""

Sets = Mapping[tuple[str, ...], AnswerSet]
"""Sets as they are now, by what they are sets of."""

_AUXILIARY = re.compile(r"^(?:(?:is|are|was|were|be|been|has|have|had|the|an?|now|also|then)\s+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """What was found of a page: `stale` are chunks that it rests on and that are gone or changed.

    `moved` says of each set that it ranges over and that is another now what changed; `unread` says that a
    set cannot be read, so that nothing tells.
    """

    stale: tuple[str, ...]
    contradictions: tuple[Contradiction, ...]
    moved: tuple[str, ...] = ()
    unread: bool = False

    @property
    def is_stale(self) -> bool:
        """Whether anything that it rests on is not as it was."""
        return bool(self.stale or self.moved)

    @property
    def status(self) -> PageStatus:
        """Stale counts before contradicted: what it says is old either way."""
        if self.is_stale:
            return PageStatus.STALE
        return PageStatus.CONTRADICTED if self.contradictions else PageStatus.CURRENT


def current_hashes(chunks: ChunkReader, pages: Iterable[WikiPage]) -> Mapping[str, str]:
    """Return the content hash of every chunk that *pages* speak of and the index has, in one call."""
    ids = {chunk for page in pages for chunk in (*page.rests_on, *(one.chunk for one in page.contradictions))}
    found = chunks.get(sorted(ids - {""})) if ids - {""} else ()
    return {chunk.id: chunk.content_hash for chunk in found}


def read_trust(
    chunks: ChunkReader, graph: GraphReader | None, pages: Collection[WikiPage]
) -> dict[str, Trust]:
    """Return what the index that readers see says of each page, by `category/slug`."""
    return weigh_pages(pages, current_hashes(chunks, pages), current_sets(graph, pages))


def weigh_pages(
    pages: Collection[WikiPage], hashes: Mapping[str, str], sets: Sets = MappingProxyType({})
) -> dict[str, Trust]:
    """Return for each page, by `category/slug`, what is stale and what contradicts it, in order.

    A contradiction is open while both sides are current: the flagged ones whose chunk is still there and
    whose statement the page still makes, and those between two pages of which neither is stale.
    """
    stale = {
        page.ref: tuple(chunk for chunk, was in page.rests_on.items() if hashes.get(chunk) != was)
        for page in pages
    }
    moved = {page.ref: _moved(page, sets) for page in pages}
    current = {page.ref for page in pages if not (stale[page.ref] or moved[page.ref]) and page.rests_on}
    said = said_by((page.ref, fact) for page in pages if page.ref in current for fact in page.facts)
    trust = {}
    for page in pages:
        flagged = [one for one in page.contradictions if one.chunk in hashes and _is_made(one, page)]
        between = contradict(page.facts, said, besides=page.ref) if page.ref in current else ()
        trust[page.ref] = Trust(
            stale=stale[page.ref],
            contradictions=tuple(dict.fromkeys((*flagged, *between))),
            moved=moved[page.ref],
            unread=any(one.key not in sets for one in page.ranges_over),
        )
    return trust


def _moved(page: WikiPage, sets: Sets) -> tuple[str, ...]:
    """Say which sets of a page are others now; one that was filed without its set may be old already."""
    if page.filed_sha256 and not page.ranges_over and asks_for_set(page.query):
        return ("filed without the set that its question ranges over",)
    return tuple(
        one.changed_to(sets[one.key])
        for one in page.ranges_over
        if one.key in sets and sets[one.key].sha256 != one.sha256
    )


def _is_made(flag: Contradiction, page: WikiPage) -> bool:
    """Whether a page still says what a flag on it says it does: a person may have settled it."""
    side = (fold(flag.subject), flag.predicate, fold(flag.object))
    return side in {(fold(fact.subject), fact.predicate, fold(fact.object)) for fact in page.facts}


def contradicted_by(
    facts: Iterable[Fact], pages: Collection[WikiPage], trust: Mapping[str, Trust]
) -> dict[str, Trust]:
    """Return the pages that new evidence contradicts, with all that does; a stale page is no side of it."""
    said = said_by(("", fact) for fact in facts)
    found: dict[str, Trust] = {}
    for page in pages:
        known = trust[page.ref]
        if not known.is_stale and (new := contradict(page.facts, said)):
            flags = tuple(dict.fromkeys((*known.contradictions, *new)))
            found[page.ref] = replace(known, contradictions=flags)
    return found


def said_by(statements: Iterable[tuple[str, Fact]]) -> FactsByKey:
    """Order facts, each with the page that it is of, by subject and predicate; those of several values go.

    New evidence is of no page: its page is an empty text.
    """
    said: dict[tuple[str, str], list[tuple[str, Fact]]] = {}
    for page, fact in statements:
        if predicate := single(fact.predicate):
            said.setdefault((fold(fact.subject), predicate), []).append((page, fact))
    return said


def contradict(
    facts: Iterable[Fact], said: FactsByKey, *, besides: str | None = None
) -> tuple[Contradiction, ...]:
    """Return where *said* has another object of a subject's single-valued predicate, each once, in order.

    Args: besides: a page whose own statements do not count.
    """
    found = [
        Contradiction(
            subject=fact.subject,
            predicate=fact.predicate,
            object=fact.object,
            other=other.object,
            chunk=other.chunk,
            page=page,
        )
        for fact in facts
        for page, other in said.get((fold(fact.subject), single(fact.predicate)), ())
        if page != besides and _same_subject(fact, other) and not _same_object(fact, other)
    ]
    return tuple(dict.fromkeys(found))


def single(predicate: str) -> str:
    """Return a predicate without its auxiliaries if it has one value at a time, else an empty text."""
    bare = _AUXILIARY.sub("", " ".join(predicate.casefold().replace("_", " ").split()))
    return bare if bare in SINGLE_VALUED else ""


def _same_subject(one: Fact, other: Fact) -> bool:
    """Equal names are one thing unless the graph tells them apart."""
    return not (one.subject_id and other.subject_id) or one.subject_id == other.subject_id


def _same_object(one: Fact, other: Fact) -> bool:
    if one.object_id and one.object_id == other.object_id:
        return True
    return fold(one.object) == fold(other.object)


def mark_pages(
    wiki: Wiki, pages: Collection[WikiPage], trust: Mapping[str, Trust], *, now: str
) -> tuple[PageProblem, ...]:
    """Write status and contradictions on the pages whose are others now; no other byte of them changes.

    A page that somebody saved meanwhile is left for the next time. A wiki that cannot be written to is a
    problem of each such page and fails nothing: what was found stands in the answer too.
    """
    problems: list[PageProblem] = []
    for page in pages:
        marked = marked_page(page, trust[page.ref], now=now)
        if marked is page:
            continue
        try:
            wiki.revise(page, marked)
        except StoreUnavailable as error:
            message = f"is {marked.status.value}, which cannot be written to it: {error.message}"
            problems.append(PageProblem(path=f"{page.ref}.md", message=message))
        except (ConfigError, ParseError):  # removed or half saved since it was listed
            continue
    return tuple(problems)


def marked_page(page: WikiPage, trust: Trust, *, now: str) -> WikiPage:
    """Return *page* with what was found of it; the very same where that stands on it already."""
    if trust.unread and trust.status is PageStatus.CURRENT and page.status is PageStatus.STALE:
        return page  # nothing tells that what made it stale is gone
    flags = page.contradictions if trust.status is PageStatus.STALE else trust.contradictions
    if (page.status, page.contradictions) == (trust.status, flags):
        return page
    since = page.status_since if page.status is trust.status else now
    return replace(page, status=trust.status, status_since=since, contradictions=flags)
