"""Which document links where, by content-addressed fragment, so that no generation makes it stale."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import sqlalchemy as sa

from indexes.stores.ledger.revisions import valid_at
from indexes.stores.ledger.tables import LedgerPart, doc_rev, document, fragment_link
from schemas.batches import in_parts
from schemas.documents import ASLEEP
from schemas.edges import EdgeKind, LinkPosition
from schemas.fragment import GraphFragment


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingLink:
    """A link into a document, as its text stands on the linking page."""

    target: str
    fragment: str | None
    text: str


_DOC_ID = "doc_id:"
_TOLD = "told"
"""Position of a translation that no page names, but a sitemap or a header: it is no link of a page."""

_LINKED = doc_rev.join(fragment_link, fragment_link.c.fragment_sha == doc_rev.c.fragment_sha)
_COUNTED = (LinkPosition.BODY.value, LinkPosition.NAV.value)
_IS_TEXT = (fragment_link.c.position == LinkPosition.BODY.value, fragment_link.c.text != "")


class BodyTexts(TypedDict):
    """`counts` of documents by the text of their body links, of the `pages` that have links at all."""

    pages: int
    counts: Mapping[str, int]


class LinkIndex(LedgerPart):
    """The `fragment_link` table: links of parsed fragments, front-matter references included.

    A reference to a document id is kept under the target `doc_id:<ID>`.
    """

    def save(self, fragments: Iterable[tuple[str, GraphFragment]]) -> None:
        """Index the links of fragments by their hash, all or none; one already indexed is no work."""
        with self._engine.begin() as connection:
            for sha, fragment in fragments:
                known = sa.select(fragment_link.c.target).where(fragment_link.c.fragment_sha == sha).limit(1)
                rows = link_rows(sha, fragment)
                if rows and connection.execute(known).first() is None:
                    connection.execute(sa.insert(fragment_link), rows)

    def linking_documents(
        self, targets: Collection[str], *, generation: int, position: LinkPosition | None = None
    ) -> tuple[str, ...]:
        """Documents of the generation that link to one of the targets, from anywhere or one position.

        In id order.
        """
        query = sa.select(doc_rev.c.doc).distinct().select_from(_LINKED).where(*valid_at(doc_rev, generation))
        if position is not None:
            query = query.where(fragment_link.c.position == position.value)
        return tuple(sorted({row.doc for row in self._among(query, fragment_link.c.target, targets)}))

    def linking_pages(self, source: str, *, generation: int) -> int:
        """How many documents of a source have links."""
        query = sa.select(_documents()).select_from(_LINKED).where(*_of_source(source, generation))
        return self._value(query) or 0

    def body_texts(self, source: str, *, generation: int, at_least: float) -> Mapping[str, int]:
        """On how many documents of a source each text of a body link stands, if on *at_least* so many."""
        query = (
            sa.select(fragment_link.c.text, _documents().label("number"))
            .select_from(_LINKED)
            .where(*_IS_TEXT, *_of_source(source, generation))
            .group_by(fragment_link.c.text)
            .having(_documents() >= at_least)
        )
        return {row.text: row.number for row in self._rows(query)}

    def body_texts_of(self, fragment_shas: Collection[str]) -> BodyTexts:
        """On how many of the fragments each text of a body link stands, and how many of them have links."""
        fragments = sa.func.count(fragment_link.c.fragment_sha.distinct())
        counts, pages = Counter[str](), 0
        for part in in_parts(fragment_shas):
            ours = fragment_link.c.fragment_sha.in_(part)
            pages += self._value(sa.select(fragments).where(ours)) or 0
            texts = sa.select(fragment_link.c.text, fragments.label("number")).where(ours, *_IS_TEXT)
            for row in self._rows(texts.group_by(fragment_link.c.text)):
                counts[row.text] += row.number
        return BodyTexts(pages=pages, counts=counts)

    def documents_linking_by(
        self, texts: Collection[str], *, source: str, generation: int
    ) -> tuple[str, ...]:
        """Documents of a source with a body link of one of the texts, in id order."""
        by_body = fragment_link.c.position == LinkPosition.BODY.value
        query = sa.select(doc_rev.c.doc).distinct().select_from(_LINKED)
        query = query.where(by_body, *_of_source(source, generation))
        return tuple(sorted({row.doc for row in self._among(query, fragment_link.c.text, texts)}))

    def targets_of(self, fragment_shas: Collection[str]) -> frozenset[str]:
        """Everything the fragments link to."""
        query = sa.select(fragment_link.c.target).distinct()
        rows = self._among(query, fragment_link.c.fragment_sha, fragment_shas)
        return frozenset(row.target for row in rows)

    def targets_of_source(self, source: str) -> Mapping[str, int]:
        """Addresses that documents of a source link to, with the depth of the nearest; not each to itself."""
        own = document.c.fragment_sha == fragment_link.c.fragment_sha
        awake = (document.c.source == source, document.c.state.not_in([*ASLEEP]))
        query = (
            sa.select(fragment_link.c.target, sa.func.min(document.c.depth).label("depth"))
            .join(document, own)
            .where(*awake, fragment_link.c.target != document.c.uri, fragment_link.c.position != _TOLD)
            .group_by(fragment_link.c.target)
        )
        return {row.target: row.depth for row in self._rows(query) if not row.target.startswith(_DOC_ID)}

    def linking_beside_text(self, targets: Collection[str]) -> Mapping[str, frozenset[str]]:
        """Hashes of the fragments that link to each target from beside their text, as from their head."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        query = sa.select(fragment_link.c.target, fragment_link.c.fragment_sha)
        query = query.where(fragment_link.c.position == LinkPosition.NAV.value)
        for row in self._among(query, fragment_link.c.target, targets):
            found[row.target].add(row.fragment_sha)
        return {target: frozenset(shas) for target, shas in found.items()}

    def of_fragments(self, shas: Collection[str]) -> Mapping[str, frozenset[IncomingLink]]:
        """Links of each fragment that `incoming` counts; a fragment without any is left out."""
        found: dict[str, set[IncomingLink]] = {}
        query = sa.select(fragment_link).where(fragment_link.c.position.in_(_COUNTED))
        for row in self._among(query, fragment_link.c.fragment_sha, shas):
            found.setdefault(row.fragment_sha, set()).add(_incoming(row))
        return {sha: frozenset(links) for sha, links in found.items()}

    def incoming(
        self,
        targets: Collection[str],
        *,
        generation: int,
        without_docs: Collection[str],
        with_fragments: Collection[str],
    ) -> tuple[IncomingLink, ...]:
        """Distinct texts of body and nav links into the targets, ordered by target, fragment, text.

        Counts the generation's documents except *without_docs*, plus the fragments given by hash:
        together the documents as they will be in the next generation.
        """
        columns = (fragment_link.c.target, fragment_link.c.fragment, fragment_link.c.text)
        leaving, arriving = frozenset(without_docs), frozenset(with_fragments)
        counted = fragment_link.c.position.in_(_COUNTED)
        live = sa.select(doc_rev.c.doc, *columns).select_from(_LINKED)
        live = live.where(counted, *valid_at(doc_rev, generation))
        new = sa.select(fragment_link.c.fragment_sha, *columns).where(counted)
        held = (row for row in self._among(live, fragment_link.c.target, targets) if row.doc not in leaving)
        given = self._among(new, fragment_link.c.target, targets)
        links = {_incoming(row) for row in (*held, *(row for row in given if row.fragment_sha in arriving))}
        return tuple(
            sorted(
                (one for one in links if one.text), key=lambda one: (one.target, one.fragment or "", one.text)
            )
        )


def _incoming(row: sa.Row[Any]) -> IncomingLink:
    return IncomingLink(target=row.target, fragment=row.fragment, text=row.text)


def _documents() -> sa.ColumnElement[int]:
    return sa.func.count(doc_rev.c.doc.distinct())


def _of_source(source: str, generation: int) -> tuple[sa.ColumnElement[bool], ...]:
    return (doc_rev.c.source == source, *valid_at(doc_rev, generation))


def link_rows(sha: str, fragment: GraphFragment) -> list[dict[str, str | None]]:
    """Rows of one fragment: its links, its translations, and its references under `doc_id:` targets.

    A page's own table of contents is left out: it says of a section what its heading says.
    """
    links = {
        (link.target, link.fragment, link.text, link.position.value)
        for link in fragment.links
        if not (link.target == fragment.uri and link.position is LinkPosition.NAV)
    }
    references = {(doc_id_target(r.target), None, "", r.kind.value) for r in fragment.references}
    references |= {(target, None, "", EdgeKind.TRANSLATES.value) for target in fragment.translations}
    references |= {(target, None, "", _TOLD) for target in fragment.told_translations}
    return [
        {"fragment_sha": sha, "target": target, "fragment": part, "text": text, "position": position}
        for target, part, text, position in sorted(links | references, key=str)
    ]


def doc_id_target(doc_id: str) -> str:
    """The target under which references to a document id are kept; ids fold case."""
    return f"{_DOC_ID}{doc_id.casefold()}"
