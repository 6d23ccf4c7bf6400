"""Which document links where, by content-addressed fragment, so that no generation makes it stale."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypedDict

import sqlalchemy as sa

from indexes.stores.ledger.retention import needed_fragments
from indexes.stores.ledger.revisions import valid_at
from indexes.stores.ledger.tables import doc_rev, fragment_link
from schemas.edges import LinkPosition
from schemas.fragment import GraphFragment

_IN_LIMIT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingLink:
    """A link into a document, as its text stands on the linking page."""

    target: str
    fragment: str | None
    text: str


_LINKED = doc_rev.join(fragment_link, fragment_link.c.fragment_sha == doc_rev.c.fragment_sha)
_COUNTED = (LinkPosition.BODY.value, LinkPosition.NAV.value)
_IS_TEXT = (fragment_link.c.position == LinkPosition.BODY.value, fragment_link.c.text != "")


class BodyTexts(TypedDict):
    """`counts` of documents by the text of their body links, of the `pages` that have links at all."""

    pages: int
    counts: Mapping[str, int]


class LinkIndex:
    """The `fragment_link` table: links of parsed fragments, front-matter references included.

    A reference to a document id is kept under the target `doc_id:<ID>`.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def save(self, fragments: Iterable[tuple[str, GraphFragment]]) -> None:
        """Index the links of fragments by their hash, all or none; one already indexed is no work."""
        with self._engine.begin() as connection:
            for sha, fragment in fragments:
                known = sa.select(fragment_link.c.target).where(fragment_link.c.fragment_sha == sha).limit(1)
                rows = link_rows(sha, fragment)
                if rows and connection.execute(known).first() is None:
                    connection.execute(sa.insert(fragment_link), rows)

    def collect(self) -> int:
        """Drop the links of fragments that nothing needs any more; give how many.

        Not while a source is being parsed: the links of a fragment are saved before its document is.
        """
        with self._engine.begin() as connection:
            gone = sa.delete(fragment_link).where(fragment_link.c.fragment_sha.not_in(needed_fragments()))
            return connection.execute(gone).rowcount

    def linking_documents(
        self, targets: Collection[str], *, generation: int, position: LinkPosition | None = None
    ) -> tuple[str, ...]:
        """Documents of the generation that link to one of the targets, from anywhere or one position.

        In id order.
        """
        where = () if position is None else (fragment_link.c.position == position.value,)
        found: set[str] = set()
        with self._reading.connect() as connection:
            for part in _parts(targets):
                query = (
                    sa.select(doc_rev.c.doc)
                    .distinct()
                    .join(fragment_link, fragment_link.c.fragment_sha == doc_rev.c.fragment_sha)
                    .where(fragment_link.c.target.in_(part), *where, *valid_at(doc_rev, generation))
                )
                found.update(row.doc for row in connection.execute(query))
        return tuple(sorted(found))

    def linking_pages(self, source: str, *, generation: int) -> int:
        """How many documents of a source have links."""
        query = sa.select(_documents()).select_from(_LINKED).where(*_of_source(source, generation))
        with self._reading.connect() as connection:
            return connection.execute(query).scalar_one()

    def body_texts(self, source: str, *, generation: int, at_least: float) -> Mapping[str, int]:
        """On how many documents of a source each text of a body link stands, if on *at_least* so many."""
        query = (
            sa.select(fragment_link.c.text, _documents().label("number"))
            .select_from(_LINKED)
            .where(*_IS_TEXT, *_of_source(source, generation))
            .group_by(fragment_link.c.text)
            .having(_documents() >= at_least)
        )
        with self._reading.connect() as connection:
            return {row.text: row.number for row in connection.execute(query)}

    def body_texts_of(self, fragment_shas: Collection[str]) -> BodyTexts:
        """On how many of the fragments each text of a body link stands, and how many of them have links."""
        fragments = sa.func.count(fragment_link.c.fragment_sha.distinct())
        counts, pages = Counter[str](), 0
        with self._reading.connect() as connection:
            for part in _parts(fragment_shas):
                ours = fragment_link.c.fragment_sha.in_(part)
                pages += connection.execute(sa.select(fragments).where(ours)).scalar_one()
                texts = sa.select(fragment_link.c.text, fragments.label("number")).where(ours, *_IS_TEXT)
                for row in connection.execute(texts.group_by(fragment_link.c.text)):
                    counts[row.text] += row.number
        return BodyTexts(pages=pages, counts=counts)

    def documents_linking_by(
        self, texts: Collection[str], *, source: str, generation: int
    ) -> tuple[str, ...]:
        """Documents of a source with a body link of one of the texts, in id order."""
        found: set[str] = set()
        with self._reading.connect() as connection:
            for part in _parts(texts):
                query = (
                    sa.select(doc_rev.c.doc)
                    .distinct()
                    .join(fragment_link, fragment_link.c.fragment_sha == doc_rev.c.fragment_sha)
                    .where(
                        fragment_link.c.text.in_(part),
                        fragment_link.c.position == LinkPosition.BODY.value,
                        doc_rev.c.source == source,
                        *valid_at(doc_rev, generation),
                    )
                )
                found.update(row.doc for row in connection.execute(query))
        return tuple(sorted(found))

    def targets_of(self, fragment_shas: Collection[str]) -> frozenset[str]:
        """Everything the fragments link to."""
        found: set[str] = set()
        with self._reading.connect() as connection:
            for part in _parts(fragment_shas):
                query = (
                    sa.select(fragment_link.c.target).distinct().where(fragment_link.c.fragment_sha.in_(part))
                )
                found.update(row.target for row in connection.execute(query))
        return frozenset(found)

    def linking_beside_text(self, targets: Collection[str]) -> Mapping[str, frozenset[str]]:
        """Hashes of the fragments that link to each target from beside their text, as from their head."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        columns, beside = (fragment_link.c.target, fragment_link.c.fragment_sha), LinkPosition.NAV.value
        with self._reading.connect() as connection:
            for part in _parts(targets):
                query = sa.select(*columns).where(fragment_link.c.target.in_(part))
                for row in connection.execute(query.where(fragment_link.c.position == beside)):
                    found[row.target].add(row.fragment_sha)
        return {target: frozenset(shas) for target, shas in found.items()}

    def of_fragments(self, shas: Collection[str]) -> Mapping[str, frozenset[IncomingLink]]:
        """Links of each fragment that `incoming` counts; a fragment without any is left out."""
        found: dict[str, set[IncomingLink]] = {}
        counted = fragment_link.c.position.in_(_COUNTED)
        with self._reading.connect() as connection:
            for part in _parts(shas):
                query = sa.select(fragment_link).where(fragment_link.c.fragment_sha.in_(part), counted)
                for row in connection.execute(query):
                    link = IncomingLink(target=row.target, fragment=row.fragment, text=row.text)
                    found.setdefault(row.fragment_sha, set()).add(link)
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
        links: set[tuple[str, str | None, str]] = set()
        columns = (fragment_link.c.target, fragment_link.c.fragment, fragment_link.c.text)
        leaving, arriving = frozenset(without_docs), frozenset(with_fragments)
        with self._reading.connect() as connection:
            for part in _parts(targets):
                live = (
                    sa.select(doc_rev.c.doc, *columns)
                    .join(fragment_link, fragment_link.c.fragment_sha == doc_rev.c.fragment_sha)
                    .where(
                        fragment_link.c.target.in_(part),
                        fragment_link.c.position.in_(_COUNTED),
                        *valid_at(doc_rev, generation),
                    )
                )
                links.update(
                    (row.target, row.fragment, row.text)
                    for row in connection.execute(live)
                    if row.doc not in leaving
                )
                new = sa.select(fragment_link.c.fragment_sha, *columns).where(
                    fragment_link.c.target.in_(part), fragment_link.c.position.in_(_COUNTED)
                )
                links.update(
                    (row.target, row.fragment, row.text)
                    for row in connection.execute(new)
                    if row.fragment_sha in arriving
                )
        ordered = sorted(links, key=lambda link: (link[0], link[1] or "", link[2]))
        return tuple(IncomingLink(target=t, fragment=f, text=text) for t, f, text in ordered if text)


def _documents() -> sa.ColumnElement[int]:
    return sa.func.count(doc_rev.c.doc.distinct())


def _of_source(source: str, generation: int) -> tuple[sa.ColumnElement[bool], ...]:
    return (doc_rev.c.source == source, *valid_at(doc_rev, generation))


def link_rows(sha: str, fragment: GraphFragment) -> list[dict[str, str | None]]:
    """Rows of one fragment: its links, then its references under `doc_id:` targets.

    A page's own table of contents is left out: it says of a section what its heading says.
    """
    links = {
        (link.target, link.fragment, link.text, link.position.value)
        for link in fragment.links
        if not (link.target == fragment.uri and link.position is LinkPosition.NAV)
    }
    references = {(doc_id_target(r.target), None, "", r.kind.value) for r in fragment.references}
    return [
        {"fragment_sha": sha, "target": target, "fragment": part, "text": text, "position": position}
        for target, part, text, position in sorted(links | references, key=str)
    ]


def doc_id_target(doc_id: str) -> str:
    """The target under which references to a document id are kept; ids fold case."""
    return f"doc_id:{doc_id.casefold()}"


def _parts(values: Collection[str]) -> Iterable[list[str]]:
    ordered = sorted(values)
    for start in range(0, len(ordered), _IN_LIMIT):
        yield ordered[start : start + _IN_LIMIT]
