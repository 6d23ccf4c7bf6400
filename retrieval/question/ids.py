"""Ids as people type them: of nodes, and the ids by which a question names documents."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from indexes.ports import ChunkReader, GraphReader, Vector
from retrieval.question.words import id_tokens
from schemas.errors import ConfigError
from schemas.evidence import Filter, Hit, SearchField
from schemas.names import leading_code
from schemas.nodes import Chunk, NodeKind

LOOK_UP = 50
EXACT = 200
SHOWN = 5
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9]{1,9}-\d{1,6}")
_FIELDS = (SearchField.CODES, SearchField.HEADING, SearchField.TEXT)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundIds:
    """Documents by the token that names them; `problems` say of ids why they name none, or several.

    `unknown` are tokens shaped like ids that no document has.
    """

    documents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """All documents, in id order."""
        return tuple(sorted({doc for docs in self.documents.values() for doc in docs}))


def bind_ids(chunks: ChunkReader, text: str, vector: Vector) -> BoundIds:
    """Find the documents whose own ids *text* contains: whole in any case, else by their beginning.

    `PRD-0008` means every document whose id begins with that code. Any other beginning must belong to one
    document alone.
    """
    tokens = id_tokens(text)
    known = _ids_like(chunks, tokens, vector) if tokens else {}
    documents: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    unknown: list[str] = []
    for token in tokens:
        found = _meant(token, known)
        if found and (len(found) == 1 or is_plain_code(token)):
            documents[token] = tuple(sorted({doc for docs in found.values() for doc in docs}))
        if len(found) > 1:
            listed = ", ".join(sorted(found)[:SHOWN]) + (", …" if len(found) > SHOWN else "")
            meant = "all are meant" if is_plain_code(token) else "give more of it"
            problems.append(f"{token} begins {len(found)} ids ({listed}); {meant}")
        elif not found and is_plain_code(token):
            problems.append(f"no document has the id {token}")
            unknown.append(token)
    return BoundIds(documents=documents, unknown=tuple(unknown), problems=tuple(problems))


def is_plain_code(token: str) -> bool:
    """Whether a token is all letters, a dash and a number: `GOV-0017`, `gov-0017`."""
    return _CODE.fullmatch(token) is not None


def means(token: str, doc_id: str) -> bool:
    """Whether a token of a question names a document by its own id, whole or by its beginning.

    >>> means("adr-0042", "ADR-0042-tapes"), means("ADR-004", "ADR-0042")
    (True, False)
    """
    return bool(_meant(token, {doc_id: ()}))


def _ids_like(chunks: ChunkReader, tokens: Collection[str], vector: Vector) -> dict[str, tuple[str, ...]]:
    """Return documents by their own ids, of those that begin as a token does or are one in another case."""
    exact = [hit for token in tokens for hit in _of_id(chunks, token, vector)]
    begun = [match[0] for token in tokens if (match := _CODE.match(token))]
    codes = {code for one in begun for code in (one, one.upper())}
    near = {
        hit.chunk_id
        for code in sorted(codes)
        for place in _FIELDS
        for hit in chunks.search_text(place, code, top_k=LOOK_UP)
    }
    found = chunks.get(sorted(near | {hit.chunk_id for hit in exact}))
    return _by_id(found)


def _of_id(chunks: ChunkReader, token: str, vector: Vector) -> tuple[Hit, ...]:
    """Return chunks of the documents with that id; each by itself, or a long document would hide others."""
    own = Filter(field="doc_id", values=tuple(sorted({token, token.upper(), token.lower()})))
    return tuple(chunks.search_vector(SearchField.TEXT, vector, top_k=EXACT, filters=(own,)))


def _by_id(found: Collection[Chunk]) -> dict[str, tuple[str, ...]]:
    docs: dict[str, set[str]] = {}
    for chunk in found:
        if chunk.doc_id:
            docs.setdefault(chunk.doc_id, set()).add(chunk.doc)
    return {doc_id: tuple(sorted(docs[doc_id])) for doc_id in sorted(docs)}


def _meant(token: str, known: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the ids that a token is; else those that it begins, a whole code only where the code ends."""
    folded = token.casefold()
    same = {doc_id: docs for doc_id, docs in known.items() if doc_id.casefold() == folded}
    if same or not _CODE.match(token):
        return same
    if is_plain_code(token):
        prefixes = {doc_id: leading_code(doc_id) or leading_code(doc_id.upper()) for doc_id in known}
        return {one: known[one] for one, code in prefixes.items() if code and code.casefold() == folded}
    return {doc_id: docs for doc_id, docs in known.items() if doc_id.casefold().startswith(folded)}


SHORTEST = 4
"""Letters of the hash that a beginning has at least; docs/rules/ids.md says what follows the colon."""

_KINDS = tuple(kind.value.lower() for kind in NodeKind)
_ID = re.compile(rf"(?:({'|'.join(_KINDS)}):)?([a-z2-7]{{{SHORTEST},26}})")
_SHOWN = 5


def looks_like_id(typed: str) -> bool:
    """Whether *typed* may be an id, or the beginning of one; a word of these letters is no proof."""
    return _ID.fullmatch(typed.lower()) is not None


def states_kind(typed: str) -> bool:
    """Whether *typed* begins as an id does, with its kind and a colon, and so can be nothing else."""
    return typed.lower().partition(":")[0] in _KINDS and ":" in typed


def resolve_node_id(graph: GraphReader, typed: str, *, kinds: Collection[NodeKind] = tuple(NodeKind)) -> str:
    """Return the one node id that *typed* is, or begins; case does not matter.

    Raises: ConfigError: no node of *kinds* has it, or several do; the message names the nearest ones.
    """
    found = tuple(_ids_with(graph, typed, kinds))
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
        raise ConfigError(f"begins several ids ({listed}); give more of it", subject=typed)
    near = _nearest(graph, typed, kinds)
    hint = f"did you mean {near}?" if near else "ids are in the output of: sitegraph query TEXT"
    raise ConfigError(f"no such {_noun(kinds)} in this generation; {hint}", subject=typed)


def _ids_with(graph: GraphReader, typed: str, kinds: Collection[NodeKind]) -> Iterator[str]:
    match = _ID.fullmatch(typed.lower())
    if match is None:
        return
    for kind in sorted(kind.value.lower() for kind in kinds):
        if match[1] in (None, kind):
            low = f"{kind}:{match[2]}"
            yield from graph.ids_between(low, f"{low}~", limit=_SHOWN + 1)


def _nearest(graph: GraphReader, typed: str, kinds: Collection[NodeKind]) -> str | None:
    """The id most like *typed* among those that begin as it does: a slip is rarely in the first letters."""
    kind, colon, letters = typed.lower().rpartition(":")
    beginning = f"{kind}{colon}{letters[:SHORTEST]}"
    close = get_close_matches(typed.lower(), tuple(_ids_with(graph, beginning, kinds)), n=1)
    return close[0] if close else None


def _noun(kinds: Collection[NodeKind]) -> str:
    return next(iter(kinds)).value.lower() if len(kinds) == 1 else "node"
