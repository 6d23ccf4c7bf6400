"""What other pages call a chunk: the texts of links that lead to it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from schemas.nodes import Chunk

MAX_ANCHOR_TEXTS = 8
"""At most so many a chunk (design 4); the first in sorted order stay."""


def give_anchor_texts(chunks: Sequence[Chunk], links: Iterable[tuple[str | None, str]]) -> tuple[Chunk, ...]:
    """Set each chunk's anchor texts from the (fragment, text) pairs of links into its document.

    A link goes to every chunk of its fragment, else to the chunk inside which that id stands; without a
    fragment, or with one that no chunk has, to the document's first chunk.
    """
    if not chunks:
        return ()
    first = min(chunks, key=lambda chunk: (chunk.ordinal, chunk.id))
    named = {chunk.fragment for chunk in chunks}
    inside = {name for chunk in chunks for name in chunk.fragments} - named
    texts = _texts_by_fragment(links, known=named | inside)
    return tuple(
        replace(chunk, anchor_texts=_select(texts, _names(chunk, inside), is_first=chunk is first))
        for chunk in chunks
    )


def _names(chunk: Chunk, inside: set[str]) -> set[str]:
    own = {chunk.fragment} if chunk.fragment is not None else set()
    return own | inside.intersection(chunk.fragments)


def _texts_by_fragment(
    links: Iterable[tuple[str | None, str]], *, known: set[str | None]
) -> Mapping[str | None, set[str]]:
    texts: dict[str | None, set[str]] = {}
    for fragment, text in links:
        if text:
            texts.setdefault(fragment if fragment in known else None, set()).add(text)
    return texts


def _select(texts: Mapping[str | None, set[str]], names: set[str], *, is_first: bool) -> tuple[str, ...]:
    keys = {None, *names} if is_first else names
    found = {text for name in keys for text in texts.get(name, set())}
    return tuple(sorted(found)[:MAX_ANCHOR_TEXTS])
