"""Whether what a chunk cites is there: its text in its parent and in its box, its fragment in the page."""

import html
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from urllib.parse import unquote

from schemas.fragment import GraphFragment
from schemas.nodes import Chunk, PdfRegion, Section

NOT_FOUND = 0.3
"""structure_confidence of a chunk that is not where it says: below all that any other check gives."""

_NAME = re.compile(
    r"""[iInN](?<!\w.)(?:(?<=[iI])[dD]|(?<=[nN])[aA][mM][eE])\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""",
    re.ASCII,
)
_UNSEEN = dict.fromkeys(map(ord, "-\u00ad\u2010"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrip:
    """What came of looking a chunk up where it says it stands.

    `in_parent`: its text is its section's or region's at its offsets. `at_place` is its `round_trip`.
    """

    chunk: str
    in_parent: bool
    at_place: bool | None = None

    @property
    def holds(self) -> bool:
        """Whether all that could be looked up was found."""
        return self.in_parent and self.at_place is not False


def check_round_trips(fragment: GraphFragment) -> tuple[RoundTrip, ...]:
    """Look up every chunk of a document in its parent, and say what the parser found at its place."""
    parents = parent_texts(fragment)
    return tuple(
        RoundTrip(chunk=chunk.id, in_parent=_is_in_parent(chunk, parents), at_place=chunk.round_trip)
        for chunk in fragment.chunks
    )


def parent_texts(fragment: GraphFragment) -> dict[str, str]:
    """Return the texts that chunks are cut from, by the id of the section or region."""
    return {node.id: node.text for node in fragment.nodes if isinstance(node, Section | PdfRegion)}


def _is_in_parent(chunk: Chunk, parents: dict[str, str]) -> bool:
    """Later parts of tables and notes repeat header and title before what is theirs; behind it may be short
    sections.
    """
    whole = parents.get(chunk.section_id or chunk.region_id or "", "")
    own = whole[slice(*chunk.offsets)]
    if not own:
        return False
    at = 0 if chunk.text.startswith(own) else chunk.text.rfind(own)
    header, tail = chunk.text[: max(at, 0)], chunk.text[at + len(own) :]
    said = all(line in whole for line in header.splitlines())
    return at >= 0 and said and (not tail or tail.startswith("\n\n"))


def with_round_trips(
    fragment: GraphFragment, found: Iterable[bool | None], *, words: Mapping[str, str] = MappingProxyType({})
) -> GraphFragment:
    """Note for each chunk, in order, whether it was *found* at its place; one that was not is less sure.

    Args: words: text fragments by chunk, noted here since a row takes long to copy.

    A warning says how many were not.
    """
    chunks = tuple(
        _noted(chunk, was, words.get(chunk.id)) for chunk, was in zip(fragment.chunks, found, strict=True)
    )
    lost = sum(chunk.round_trip is False for chunk in chunks)
    warnings = (f"round trip: {lost} of {len(chunks)} passages not found where they say",) if lost else ()
    return replace(fragment, chunks=chunks, warnings=(*fragment.warnings, *warnings))


def _noted(chunk: Chunk, found: bool | None, words: str | None) -> Chunk:
    sure = min(chunk.structure_confidence, NOT_FOUND) if found is False else chunk.structure_confidence
    return replace(chunk, round_trip=found, structure_confidence=sure, text_fragment=words)


def look_up_fragments(chunks: Iterable[Chunk], names: Collection[str]) -> Iterator[bool | None]:
    """Say for each chunk whether its fragment is among the *names* in its page; None where it has none."""
    return (None if chunk.fragment is None else chunk.fragment in names for chunk in chunks)


def names_in(markup: str) -> frozenset[str]:
    """Values of `id` and `name` attributes in a page, as written and percent-decoded.

    Found in the text without its tree, since it is the reading of the tree that is looked at.
    """
    written = frozenset(html.unescape(one or other or bare) for one, other, bare in _NAME.findall(markup))
    return written | {unquote(name) for name in written if "%" in name}


def squeezed(text: str) -> str:
    """Text as boxes are compared: NFKC, without white space, hyphens, and the controls of broken fonts."""
    plain = "".join(unicodedata.normalize("NFKC", text).split()).translate(_UNSEEN)
    return plain if plain.isprintable() else "".join(filter(str.isprintable, plain))
