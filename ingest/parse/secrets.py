"""Secrets of one document: found in all that would be kept of it, and hidden before it is cut into chunks."""

import re
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import unquote

from ingest.parse.outline import OutlineSection
from schemas.fragment import Link, ParseRequest
from schemas.redaction import hide_values, pieces_of, secrets_of
from schemas.secrets import Secret, find_tokens

if TYPE_CHECKING:
    from ingest.parse.page_graph import PageFacts

T = TypeVar("T")
_Page = tuple[tuple[OutlineSection, ...], tuple[Link, ...], "PageFacts", ParseRequest]

_NO_LETTER = re.compile(r"[\W_]+")
_STATED = ("doc_type", "domain", "status", "version")
"""What a request knows and front matter may state; the address of a document stays what it is."""

_PUBLIC_IN_MARKUP = frozenset({"google_api_key", "jwt"})
"""Kinds that scripts show to everybody who loads a page: keys of maps, tokens that live for minutes."""


def find_in_texts(texts: Iterable[str]) -> tuple[Secret, ...]:
    """Return the secrets of texts in reading order: a name may stand in one, and its value in the next."""
    return secrets_of("\n\n".join(texts))


def find_in_markup(data: bytes) -> tuple[str, ...]:
    """Return the kinds of secrets in the bytes of an HTML page, also in what nobody reads of it.

    These are tokens and keys in scripts, comments and attributes, but no keys meant for all.
    """
    tokens = find_tokens(data.decode("latin-1"))
    return kinds_of([secret for secret in tokens if secret.kind not in _PUBLIC_IN_MARKUP])


def find_in_source(data: bytes) -> tuple[str, ...]:
    """Return the kinds of secrets in the bytes of a text, front matter and comments included."""
    return kinds_of(secrets_of(data.decode("latin-1")))


def strings_of(value: Any) -> Iterator[str]:
    """Yield every text of a dataclass and of all that it contains."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from strings_of(part)
    elif is_dataclass(value):
        for one in fields(value):
            yield from strings_of(getattr(value, one.name))


def hide_in_page(
    outline: tuple[OutlineSection, ...], links: tuple[Link, ...], facts: "PageFacts", request: ParseRequest
) -> tuple[_Page, tuple[str, ...]]:
    """Return a page without its secrets, as it came if it has none; and the kind of each secret."""
    texts = [*strings_of(replace(facts, parts=())), *(getattr(request, name) or "" for name in _STATED)]
    texts.extend(part.title for part in facts.parts)  # their links are among the page's
    for section in outline:
        texts.extend(
            (
                section.number or "",
                section.heading,
                section.text,
                *(caption for _, _, caption in section.captions),
            )
        )
    for link in links:
        # In `?q=token%3D…` a token would seem to begin amid a word.
        texts.extend((link.text, unquote(link.target), link.fragment or ""))
    secrets = find_in_texts(texts)
    if not secrets:
        return (outline, links, facts, request), ()
    hiding = hiding_of(secrets)
    page = hiding.outline(outline), hiding.links(links), hiding.facts(facts), hiding.request(request)
    return page, kinds_of(secrets)


def kinds_of(secrets: Collection[Secret]) -> tuple[str, ...]:
    """Return kind of each secret, in order of the alphabet; what is part of another is none of its own."""
    kinds = {"".join(secret.value.split()): secret.kind for secret in secrets}
    # Only one of several lines was found in parts as well.
    long = {"".join(secret.value.split()) for secret in secrets if len(secret.pieces) > 1}
    parts = {value for value in kinds for whole in long if value in whole and value != whole}
    return tuple(sorted(kind for value, kind in kinds.items() if value not in parts))


def hiding_of(secrets: Iterable[Secret]) -> "Hiding":
    """Return what hides these secrets."""
    pieces = pieces_of(secrets)
    return Hiding(pieces, frozenset(_NO_LETTER.sub("", piece).lower() for piece in pieces))


@dataclass(frozen=True, slots=True)
class Hiding:
    """Puts a mark in place of the same secrets wherever they stand in a document.

    `pieces` are what is hidden, `folded` their letters and digits in lower case.
    """

    pieces: frozenset[str]
    folded: frozenset[str]

    def everywhere(self, value: T) -> T:
        """Return a text, tuple or dataclass with the secrets hidden in every text of it."""
        return cast(T, self._everywhere(value))

    def outline(self, outline: tuple[OutlineSection, ...]) -> tuple[OutlineSection, ...]:
        """Hide them in sections, whose offsets move with the text; an id made of a secret goes."""
        return tuple(self._section(section) for section in outline)

    def links(self, links: tuple[Link, ...]) -> tuple[Link, ...]:
        """Hide them in the words of links; a link whose address carries one is left out, not followed.

        Links that differed by a secret alone are one then, with the counts of all.
        """
        kept = (link for link in links if not self.is_in(link.target) and not self.is_in(link.fragment))
        merged: dict[Link, Link] = {}
        for link in kept:
            hidden = replace(link, text=self.everywhere(link.text))
            said = replace(hidden, count=1, places=())
            known = merged.get(said)
            merged[said] = (
                replace(known, count=known.count + hidden.count, places=(*known.places, *hidden.places))
                if known
                else hidden
            )
        return tuple(merged.values())

    def facts(self, facts: "PageFacts") -> "PageFacts":
        """Hide them in what a page says of itself, and forget addresses that carry one."""
        return replace(
            self.everywhere(facts),
            kind=facts.kind,
            refresh=None if self.is_in(facts.refresh) else facts.refresh,
            canonical=None if self.is_in(facts.canonical) else facts.canonical,
            alternates=tuple(uri for uri in facts.alternates if not self.is_in(uri)),
            translations=tuple(uri for uri in facts.translations if not self.is_in(uri)),
            parts=tuple(
                replace(self.everywhere(part), name=part.name, links=self.links(part.links))
                for part in facts.parts
            ),
        )

    def request(self, request: ParseRequest) -> ParseRequest:
        """Hide them in what front matter states."""
        return replace(request, **{name: self._everywhere(getattr(request, name)) for name in _STATED})

    def is_in(self, text: str | None) -> bool:
        """Whether any of them stands in an address, as written or without its escapes."""
        return text is not None and any(
            piece in form for form in {text, unquote(text)} for piece in self.pieces
        )

    def _everywhere(self, value: Any) -> Any:
        if isinstance(value, str):
            # An enum is a str, and has no secret.
            return hide_values(value, self.pieces).text if type(value) is str else value
        if isinstance(value, tuple):
            return tuple(self._everywhere(part) for part in value)
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{f.name: self._everywhere(getattr(value, f.name)) for f in fields(value)})
        return value

    def _id(self, name: str | None) -> str | None:
        return None if self._is_made_of(name) else name

    def _is_made_of(self, name: str | None) -> bool:
        """Whether an id repeats a secret: that of a heading is made of its letters."""
        folded = _NO_LETTER.sub("", name or "").lower()
        return any(piece in folded for piece in self.folded)

    def _section(self, section: OutlineSection) -> OutlineSection:
        text = hide_values(section.text, self.pieces)

        def moved(one: Any, *offsets: str) -> Any:
            return replace(one, **{name: text.at(getattr(one, name)) for name in offsets})

        return replace(
            section,
            heading=self.everywhere(section.heading),
            number=self.everywhere(section.number),
            heading_path=self.everywhere(section.heading_path),
            fragment=self._id(section.fragment),
            nearest_fragment=self._id(section.nearest_fragment),
            text=text.text,
            anchors=tuple((text.at(at), name) for at, name in section.anchors if not self._is_made_of(name)),
            captions=tuple(
                (text.at(start), text.at(end), self.everywhere(name)) for start, end, name in section.captions
            ),
            stretches=tuple(moved(one, "start", "end", "header_end") for one in section.stretches),
            boxes=tuple(moved(one, "start", "title_end", "end") for one in section.boxes),
            entries=tuple(
                replace(
                    moved(one, "start", "end"), name=self.everywhere(one.name), anchor=self._id(one.anchor)
                )
                for one in section.entries
            ),
            aliases=tuple(name for name in section.aliases if not self._is_made_of(name)),
            links=tuple(
                (text.at(start), text.at(end), hidden)
                for start, end, link in section.links
                for hidden in self._link(link)
            ),
            heading_links=tuple(hidden for link in section.heading_links for hidden in self._link(link)),
        )

    def _link(self, link: Hashable) -> tuple[Hashable, ...]:
        return self.links((link,)) if isinstance(link, Link) else (link,)
