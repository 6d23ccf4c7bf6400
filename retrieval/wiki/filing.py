"""Verified answers become pages of the wiki, with what they rest on."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from indexes.ports import ChunkReader, GraphReader
from retrieval.bundle.build import locate_in_pdf
from retrieval.bundle.prompt import mask_labels
from retrieval.bundle.render import cite_line
from retrieval.question.words import fold, stem_line
from retrieval.wiki.evidence import GraphEvidence
from retrieval.wiki.front_matter import plain_line, plain_text
from retrieval.wiki.page import (
    EVIDENCE,
    EVIDENCE_CHAIN,
    AnswerSet,
    PageStatus,
    WikiPage,
    marked_slug,
    slug_of,
)
from retrieval.wiki.store import Wiki
from retrieval.wiki.subgraph import facts_of
from retrieval.wiki.sufficiency import leaves_out
from retrieval.wiki.trust import (
    asks_for_set,
    contradict,
    kinds_asked,
    read_trust,
    said_by,
    sets_of,
)
from schemas.errors import ConfigError, ParseError
from schemas.ids import sha256_hex
from schemas.nodes import Chunk
from schemas.redaction import redact

TOPIC = "topic"
SUMMARY_MAX = 200
TITLE_MAX = 120
_PARTS = ("chunk:", "section:", "pdfpage:", "pdfregion:")
"""Parts of documents, which relations join to nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundedSentence:
    """A sentence of an answer, and the chunks that a verifier found it grounded in."""

    text: str
    chunks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filing:
    """The page that has the answer now, None where there is none; `reason` says why it was not written."""

    page: WikiPage | None
    reason: str = ""

    @property
    def written(self) -> bool:
        """Whether a page was written."""
        return not self.reason


def file_answer(
    wiki: Wiki,
    chunks: ChunkReader,
    query: str,
    statements: Sequence[GroundedSentence],
    *,
    verified: bool,
    generation: int,
    now: str,
    evidence: GraphEvidence | None = None,
    graph: GraphReader | None = None,
) -> Filing:
    """File an answer as a topic page that rests on the chunks of its sentences as they are in *chunks*.

    Only a verified answer is filed, each of whose sentences stands on chunks of this generation; one that a
    current page contains already is not filed again. A page of the same question that is stale is rebuilt in
    its place, unless a person has edited it: theirs is left as it is, and the filing says so. Secrets in
    the question are hidden.

    Args: verified: whether the verifier let every statement stand. generation: of *chunks*. now: ISO 8601.
    evidence: the graph's, for the statements and the chain that the page keeps. graph: of the same
    generation, for the set that the question ranges over; an answer that is such a set is not filed without.
    Raises: StoreUnavailable: the wiki cannot be read or written.
    """
    query = redact(plain_line(query))
    found = {one.id: one for one in chunks.get(sorted({c for s in statements for c in s.chunks}))}
    if reason := _why_not(statements, found, verified=verified):
        return Filing(page=None, reason=reason)
    sets = _sets(query, evidence, graph)
    if reason := _why_not_set(query, statements, sets, graph):
        return Filing(page=None, reason=reason)
    pages = wiki.list().pages
    place = _place(pages, chunks, graph, query)
    if place.reason:
        return place
    page = replace(
        _page(query, statements, found, evidence, generation=generation, now=now), ranges_over=sets
    )
    return _rebuild(wiki, place.page, page) if place.page else _add(wiki, page)


def _why_not(statements: Collection[GroundedSentence], found: Mapping[str, Chunk], *, verified: bool) -> str:
    if not verified:
        return "it is not verified"
    if not any(fold(one.text) for one in statements):
        return "it says nothing"
    for one in statements:
        if not one.chunks or any(chunk not in found for chunk in one.chunks):
            return f"not grounded in passages of this generation: {plain_line(one.text)}"
    return ""


def _sets(query: str, evidence: GraphEvidence | None, graph: GraphReader | None) -> tuple[AnswerSet, ...]:
    """Return the sets that a question ranges over, at what it names and at what its chain leads through."""
    if graph is None:
        return ()
    named = evidence.seeds.named if evidence else ()
    passed = evidence.chain.nodes if evidence and evidence.chain else ()
    nodes = [node for node in (*named, *passed) if not node.startswith(_PARTS)]
    return sets_of(query, tuple(dict.fromkeys(nodes)), graph) if nodes or not kinds_asked(query) else ()


def _why_not_set(
    query: str,
    statements: Sequence[GroundedSentence],
    sets: Collection[AnswerSet],
    graph: GraphReader | None,
) -> str:
    """Say why an answer that is a set cannot be kept: nothing could tell when it is old, or it is a part."""
    if not asks_for_set(query):
        return ""
    if graph is None or not sets:
        return "the set that it ranges over is not known"
    return leaves_out(query, [one.text for one in statements], [one.node for one in sets if one.node], graph)


def _place(pages: Collection[WikiPage], chunks: ChunkReader, graph: GraphReader | None, query: str) -> Filing:
    """Return the stale page to rebuild, no page for a new one, or why nothing is written."""
    asked = stem_line(query)
    same = [page for page in pages if page.query and stem_line(page.query) == asked]
    trust = read_trust(chunks, graph, pages)
    for page in same:
        if trust[page.ref].status is PageStatus.CURRENT:
            return Filing(page=page, reason=f"{page.ref} holds it already")
    for page in same:
        if trust[page.ref].status is PageStatus.CONTRADICTED:
            return Filing(page=page, reason=f"{page.ref} is contradicted, which a person must settle")
        if page.edited_by_hand:
            return Filing(page=page, reason=f"{page.ref} is stale and was edited by hand; delete or fix it")
    return Filing(page=same[0] if same else None)


def _rebuild(wiki: Wiki, stale: WikiPage, page: WikiPage) -> Filing:
    """Write *page* in the place of *stale*; the title, and keys of their own, that people gave it stay."""
    rebuilt = replace(page, slug=stale.slug, category=stale.category, title=stale.title, extra=stale.extra)
    if written := wiki.revise(stale, rebuilt):
        return Filing(page=written)
    return Filing(page=None, reason=f"{stale.ref} was saved meanwhile")


def _add(wiki: Wiki, page: WikiPage) -> Filing:
    """Write a new page; another of that name, readable or not, is never written over.

    One of the same question has been filed by somebody else since the wiki was read.
    """
    for slug in (page.slug, marked_slug(page.slug, page.query)):
        if written := wiki.add(replace(page, slug=slug)):
            return Filing(page=written)
        there = _read(wiki, slug)
        if there and stem_line(there.query) == stem_line(page.query):
            return Filing(page=there, reason=f"{there.ref} holds it already")
    return Filing(page=None, reason="a page that cannot be read stands in its place; see sitegraph wiki list")


def _read(wiki: Wiki, slug: str) -> WikiPage | None:
    try:
        return wiki.read(TOPIC, slug)
    except (ConfigError, ParseError):
        return None


def _page(
    query: str,
    statements: Sequence[GroundedSentence],
    found: Mapping[str, Chunk],
    evidence: GraphEvidence | None,
    *,
    generation: int,
    now: str,
) -> WikiPage:
    resting = dict.fromkeys(chunk for one in statements for chunk in one.chunks)
    said = facts_of(evidence.subgraph.edges, evidence.names) if evidence else ()
    facts = tuple(fact for fact in said if fact.chunk in resting)
    flagged = contradict(facts, said_by(("", fact) for fact in said))
    body = _body(query, statements, [found[chunk] for chunk in resting], evidence)
    return WikiPage(
        category=TOPIC,
        slug=slug_of(query),
        title=_cut(query, TITLE_MAX),
        summary=_cut(statements[0].text, SUMMARY_MAX),
        body=body,
        rests_on={chunk: found[chunk].content_hash for chunk in resting},
        query=query,
        generation=generation,
        written_at=now,
        status=PageStatus.CONTRADICTED if flagged else PageStatus.CURRENT,
        status_since=now,
        facts=facts,
        contradictions=flagged,
        filed_sha256=sha256_hex(body),
    )


def _body(
    query: str,
    statements: Iterable[GroundedSentence],
    resting: Sequence[Chunk],
    evidence: GraphEvidence | None,
) -> str:
    labels = {chunk.id: f"[S{number}]" for number, chunk in enumerate(resting, start=1)}
    lines = [f"# {_cut(query, TITLE_MAX)}", ""]
    lines += [
        " ".join((_prose(one.text), *(labels[chunk] for chunk in dict.fromkeys(one.chunks))))
        for one in statements
    ]
    lines += ["", f"## {EVIDENCE}", ""]
    lines += [
        f"- {labels[chunk.id]} {cite_line(chunk, locate_in_pdf(chunk))} `{chunk.id}`" for chunk in resting
    ]
    if evidence and evidence.chain:
        lines += ["", f"## {EVIDENCE_CHAIN}", "", f"    {plain_line(evidence.chain_line)}"]
    return plain_text("\n".join(lines))


def _prose(text: str) -> str:
    """Return a sentence as one line that is no heading, list, quote, code, label or link of the wiki."""
    line = mask_labels(plain_line(text)).replace("[[", "[\\[")
    return re.sub(r"^(\d*)([#>+*`~|=-]|(?<=\d)[.)])", r"\1\\\2", line)


def _cut(text: str, length: int) -> str:
    line = plain_line(text)
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"
