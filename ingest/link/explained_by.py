"""Tools are joined to the chunks that explain them; which documents a change of tools can matter to."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ingest.link.tool_evidence import (
    DEFINING,
    WEIGHTS,
    DocumentReader,
    Findings,
    ToolEvidence,
    first_sentence,
)
from ingest.link.tool_names import ToolNames, last_part, parent_of
from schemas.edges import Edge, EdgeKind, EvidenceRole
from schemas.ids import edge_id
from schemas.nodes import Chunk, Tool

PER_TOOL = 4
"""Chunks of one document that one tool leads to."""

PER_CHUNK = 8
"""Tools that are only mentioned which lead to one chunk."""

DEFINED_PER_CHUNK = 64
"""Tools which a chunk may define: a table of settings defines many, but a bound there must be."""


Agree = Callable[[Sequence[tuple[Tool, Chunk]]], Sequence[bool]]
"""Whether what each tool's description says is what the chunk says, by their vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    tool: int
    chunk: Chunk
    target: str
    findings: Findings

    @property
    def rank(self) -> tuple[bool, float, int]:
        """Defining chunks first, then the surest, then the earliest."""
        return not self.defines, -self.findings.score, self.chunk.ordinal

    @property
    def defines(self) -> bool:
        return bool(DEFINING & self.findings.kinds.keys())


def explained_by_edges(
    chunks: Sequence[Chunk], names: ToolNames, *, source: str, agree: Agree | None = None
) -> tuple[Edge, ...]:
    """Return the `explained_by` edges that one document states, in id order.

    An edge leads to the section whose heading is the tool's name, else to the chunk. Of one document only
    the best chunk with defining evidence defines a tool; the others mention it.

    Args: chunks: those of one document; names: the tools of its source; agree: asked only about chunks that
    other evidence speaks for; None: there are no vectors.
    """
    if not names.tools:
        return ()
    candidates = list(_candidates(chunks, names))
    if agree is not None:
        _ask(agree, candidates, names)
    found = _best_of_each_target(candidates)
    of_tool = _of_tools(found)
    kept = _of_chunks([candidate for ranked in of_tool.values() for candidate in ranked[:PER_TOOL]], of_tool)
    edges = (_edge(one, names, source, defines=one.defines and of_tool[one.tool][0] is one) for one in kept)
    return tuple(sorted(edges, key=lambda edge: edge.id))


def _candidates(chunks: Sequence[Chunk], names: ToolNames) -> Iterable[_Candidate]:
    reader, section = DocumentReader(names), None
    for chunk in sorted(chunks, key=lambda chunk: (chunk.ordinal, chunk.id)):
        begins = chunk.section_id is None or chunk.section_id != section
        section = chunk.section_id
        for tool, findings in reader.read(chunk, begins_section=begins).items():
            target = chunk.section_id if ToolEvidence.HEADING in findings.kinds else None
            yield _Candidate(tool=tool, chunk=chunk, target=target or chunk.id, findings=findings)


def _ask(agree: Agree, candidates: Iterable[_Candidate], names: ToolNames) -> None:
    described = [one for one in candidates if names.tools[one.tool].description]
    answers = agree([(names.tools[one.tool], one.chunk) for one in described])
    for one, agrees in zip(described, answers, strict=True):
        if agrees:
            one.findings.add(ToolEvidence.AGREEMENT)


def _best_of_each_target(candidates: Iterable[_Candidate]) -> Iterable[_Candidate]:
    best: dict[tuple[int, str], _Candidate] = {}
    for one in candidates:
        held = best.get((one.tool, one.target))
        if held is None or one.rank < held.rank:
            best[one.tool, one.target] = one
    return best.values()


def _of_tools(candidates: Iterable[_Candidate]) -> Mapping[int, Sequence[_Candidate]]:
    of_tool: dict[int, list[_Candidate]] = {}
    for one in candidates:
        of_tool.setdefault(one.tool, []).append(one)
    return {tool: sorted(ranked, key=lambda one: one.rank) for tool, ranked in sorted(of_tool.items())}


def _of_chunks(
    candidates: Sequence[_Candidate], of_tool: Mapping[int, Sequence[_Candidate]]
) -> Sequence[_Candidate]:
    """At most so many tools a chunk; those of equal rank by the tools' ids."""
    by_chunk: dict[str, list[_Candidate]] = {}
    for one in sorted(candidates, key=lambda one: (one.rank, one.tool)):
        by_chunk.setdefault(one.chunk.id, []).append(one)
    kept: list[_Candidate] = []
    for ranked in by_chunk.values():
        defining = [one for one in ranked if one.defines and of_tool[one.tool][0] is one]
        mentioning = [one for one in ranked if not (one.defines and of_tool[one.tool][0] is one)]
        kept += [*defining[:DEFINED_PER_CHUNK], *mentioning[:PER_CHUNK]]
    return kept


def _edge(one: _Candidate, names: ToolNames, source: str, *, defines: bool) -> Edge:
    tool, findings = names.tools[one.tool], one.findings
    start, end = findings.span or first_sentence(one.chunk.text)
    kinds = sorted(findings.kinds, key=lambda kind: (-WEIGHTS[kind], kind))
    return Edge(
        id=edge_id(EdgeKind.EXPLAINED_BY, tool.id, one.target),
        kind=EdgeKind.EXPLAINED_BY,
        src=tool.id,
        dst=one.target,
        doc=one.chunk.doc,
        source=source,
        confidence=findings.score,
        score=findings.score,
        chunk=one.chunk.id,
        text=one.chunk.text[start:end].strip(),
        role=EvidenceRole.DEFINES if defines else EvidenceRole.MENTIONS,
        reason=", ".join(kinds),
    )


_WORD = re.compile(r"[^\W_]+")
_VARIABLE = re.compile(r"\{[^}/]*\}|<[^>/]*>|:\w+")


def documents_naming(tools: Iterable[Tool], chunks: Iterable[Chunk]) -> frozenset[str]:
    """Return the documents with a chunk that has all words of a name of one of the tools.

    No chunk without them can be evidence, whatever stands around it; that one with them is, is not said.
    """
    keys = _keys(tools)
    return frozenset(chunk.doc for chunk in chunks if _names_one(chunk, keys))


def _keys(tools: Iterable[Tool]) -> dict[str, list[frozenset[str]]]:
    """Words of each name, under the longest of them."""
    keys: dict[str, list[frozenset[str]]] = {}
    for words in {key for tool in tools for key in _words_of(tool)}:
        keys.setdefault(max(sorted(words), key=len, default=""), []).append(words)
    return keys


def _words_of(tool: Tool) -> Iterable[frozenset[str]]:
    """A qualified name may stand without its qualifiers, and tells that its class is one, which ends another.

    An endpoint has parts that stand for any word.
    """
    names = [tool.name, *tool.aliases]
    names += [parent for name in names if (parent := parent_of(name))]
    yield from (_words(last_part(name)) for name in names)
    yield from (_words(_VARIABLE.sub(" ", endpoint)) for endpoint in tool.endpoints)


def _names_one(chunk: Chunk, keys: dict[str, list[frozenset[str]]]) -> bool:
    words = _words(" ".join((chunk.text, *chunk.heading_path, chunk.fragment or "", *chunk.fragments)))
    return any(key <= words for word in (*words, "") for key in keys.get(word, ()))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
