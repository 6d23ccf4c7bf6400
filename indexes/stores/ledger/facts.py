"""Facts of parsed documents, by the hash of the fragment."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar

import sqlalchemy as sa

from indexes.stores.ledger.retention import FileKind, note_values
from indexes.stores.ledger.revisions import valid_at
from indexes.stores.ledger.tables import (
    LedgerPart,
    doc_rev,
    document,
    fragment_access,
    fragment_refusal,
    match,
    origin,
    pages,
    said_translation,
    said_use,
    soft_error,
    upsert,
    word_coverage,
)
from schemas.documents import COMPARED, READABLE, SoftError
from schemas.fragment import NOTABLE, CoverageCounts, FormsBy, WordCoverage
from schemas.records import from_record, to_record
from schemas.uses import Use, UseTerm, UseTerms


class FactTable(LedgerPart):
    """A table whose rows are of fragments; `Retention.drop_facts` drops those that nothing needs."""

    table: ClassVar[sa.Table]

    def _save_each(self, column: str, found: Mapping[str, Sequence[str]]) -> None:
        """Write the values of each fragment; a hash always has the same."""
        rows = [{"fragment_sha": sha, column: value} for sha, values in found.items() for value in values]
        if rows:
            self._insert_new(self.table, rows)

    def _replace(self, connection: sa.Connection, found: Mapping[str, Mapping[str, Any] | None]) -> None:
        """Write a row for each fragment, none where there is nothing to say, or no longer."""
        rows = [{"fragment_sha": sha, **row} for sha, row in found.items() if row is not None]
        gone = sorted(sha for sha, row in found.items() if row is None)
        upsert(connection, self.table, rows)
        if gone:
            connection.execute(sa.delete(self.table).where(self.table.c.fragment_sha.in_(gone)))

    def _rows_of(self, shas: Collection[str]) -> Iterator[sa.Row[Any]]:
        return self._among(sa.select(self.table), self.table.c.fragment_sha, shas)

    def _by_document(
        self, generation: int, column: sa.Column[Any], docs: Collection[str] | None = None
    ) -> Mapping[str, Any]:
        """Values by node id, of the documents of a generation that have a row, or of *docs*."""
        query = (
            sa.select(doc_rev.c.doc, column)
            .join(self.table, self.table.c.fragment_sha == doc_rev.c.fragment_sha)
            .where(*valid_at(doc_rev, generation))
            .order_by(doc_rev.c.doc)
        )
        if docs is not None:
            query = query.where(doc_rev.c.doc.in_(sorted(docs)))
        return {row[0]: row[1] for row in self._rows(query)}


class StatedAccess(FactTable):
    """To which groups the front matter of documents narrows who may see them; few say anything."""

    table = fragment_access

    def save(self, found: Mapping[str, Sequence[str]]) -> None:
        """Write the groups that fragments state, by their hash."""
        self._save_each("group", found)

    def of_fragments(self, shas: Collection[str]) -> Mapping[str, frozenset[str]]:
        """Groups by fragment; one that states none is left out."""
        found: dict[str, set[str]] = {}
        for row in self._rows_of(shas):
            found.setdefault(row.fragment_sha, set()).add(row.group)
        return {sha: frozenset(groups) for sha, groups in found.items()}

    def is_stated(self) -> bool:
        """Whether any parsed document states groups."""
        return bool(self._value(sa.select(sa.exists(sa.select(fragment_access)))))


class Refusals(FactTable):
    """Which uses are refused for documents, and from when on."""

    table = fragment_refusal

    def save(self, found: Mapping[str, Mapping[Use, str]]) -> None:
        """Write what is refused, and when that begins, by the hash of the fragment."""
        rows = [
            {"fragment_sha": sha, "use": use, "begins": begins}
            for sha, refused in found.items()
            for use, begins in refused.items()
        ]
        if rows:
            self._insert_new(self.table, rows)

    def of_fragments(self, shas: Collection[str], *, now: str) -> Mapping[str, frozenset[Use]]:
        """Uses that are refused by *now*, by fragment; one that refuses none is left out."""
        found: dict[str, set[Use]] = {}
        for row in self._rows_of(shas):
            if row.begins <= now:
                found.setdefault(row.fragment_sha, set()).add(Use(row.use))
        return {sha: frozenset(uses) for sha, uses in found.items()}


class SaidUses(LedgerPart):
    """What was said of the uses of documents, by source and address; of most nothing was."""

    def of(self, source: str, uris: Collection[str]) -> Mapping[str, UseTerms]:
        """Return it for some documents of a source."""
        query = sa.select(said_use).where(said_use.c.source == source)
        rows = self._among(query, said_use.c.uri, uris)
        return {row.uri: tuple(from_record(UseTerm, term) for term in row.terms) for row in rows}

    def save(self, source: str, found: Mapping[str, UseTerms]) -> None:
        """Write it, in the place of what is there."""
        rows = [
            {"source": source, "uri": uri, "terms": [to_record(term) for term in terms]}
            for uri, terms in found.items()
        ]
        if rows:
            self._upsert(said_use, rows)


class SaidTranslations(LedgerPart):
    """The `said_translation` table; most addresses have no row."""

    def of(self, source: str, uris: Collection[str] | None = None) -> Mapping[str, FormsBy]:
        """Return what was said of some documents of a source, by default of all."""
        query = sa.select(said_translation).where(said_translation.c.source == source)
        rows = self._rows(query) if uris is None else self._among(query, said_translation.c.uri, uris)
        return {row.uri: {by: tuple(named) for by, named in row.said.items()} for row in rows}

    def save(self, source: str, found: Mapping[str, FormsBy]) -> None:
        """Write it, in the place of what is there."""
        rows = [{"source": source, "uri": uri, "said": said} for uri, said in found.items()]
        if rows:
            self._upsert(said_translation, rows)


class Matches(FactTable):
    """Which selectors of a source's `content` matched; a page that is not parsed again matched as it did."""

    table = match

    def save(self, found: Mapping[str, Sequence[str]]) -> None:
        """Write the names of the selectors that matched, by the hash of the fragment."""
        self._save_each("selector", found)

    def of_source(self, source: str, *, pipeline_version: str) -> frozenset[str] | None:
        """The selectors that match any document of the source; None where this version has parsed none."""
        read = sa.and_(
            document.c.source == source,
            document.c.pipeline_version == pipeline_version,
            document.c.fragment_sha.is_not(None),
            document.c.state.in_([*COMPARED]),
        )
        matched = sa.select(match.c.selector).join(document, match.c.fragment_sha == document.c.fragment_sha)
        if not self._value(sa.select(sa.exists().where(read))):
            return None
        return frozenset(self._values(matched.where(read).distinct()))


class Origins(FactTable):
    """Which bytes a fragment was read from: those of a PDF are drawn as long as readers see the fragment.

    The document's own row tells only what came last, which may be no good.
    """

    table = origin

    def save(self, raw_shas: Mapping[str, str | None]) -> None:
        """Write the bytes of fragments, hash to hash, None where they were not kept; the last ones count."""
        with self._engine.begin() as connection:
            note_values(connection, FileKind.RAW, origin.c.fragment_sha, origin.c.raw_sha, raw_shas)
            self._replace(connection, {sha: {"raw_sha": raw} for sha, raw in raw_shas.items()})

    def of_generation(
        self, generation: int, *, docs: Collection[str] | None = None
    ) -> Mapping[str, str | None]:
        """Hash of the bytes by node id, of all documents of the generation that had any, or of *docs*.

        None where the bytes held secrets and were not kept.
        """
        return self._by_document(generation, origin.c.raw_sha, docs)

    def of_fragments(self, shas: Collection[str]) -> Mapping[str, str | None]:
        """Hash of the bytes by that of the fragment; a fragment that is of no PDF is left out."""
        return {row.fragment_sha: row.raw_sha for row in self._rows_of(shas)}


class PdfPages(FactTable):
    """What the pages of a PDF gave: worth the time to read them again, and no more; it may be lost."""

    table = pages

    def save(self, pages_shas: Mapping[str, str | None]) -> None:
        """Write the pages of fragments, hash to hash; None where none are kept, or no longer."""
        with self._engine.begin() as connection:
            note_values(connection, FileKind.FRAGMENT, pages.c.fragment_sha, pages.c.pages_sha, pages_shas)
            rows = {sha: {"pages_sha": given} if given else None for sha, given in pages_shas.items()}
            self._replace(connection, rows)

    def of(self, fragment_shas: Collection[str]) -> Mapping[str, str]:
        """Hash of the pages by fragment, of those fragments of which any are kept."""
        return {row.fragment_sha: row.pages_sha for row in self._rows_of(fragment_shas)}

    def of_generation(self, generation: int) -> Mapping[str, str]:
        """Hash of the pages by node id, of the documents of a generation of which any are kept."""
        return self._by_document(generation, pages.c.pages_sha)


class SoftErrors(FactTable):
    """Which documents seem to stand in for content, as their pages alone tell; few do.

    A page that comes again as it was is not parsed again.
    """

    table = soft_error

    def save(self, found: Mapping[str, SoftError | None]) -> None:
        """Write what was seen by the hash of the fragment; None where nothing was, or no longer."""
        with self._engine.begin() as connection:
            rows = {
                sha: {"reason": error.reason, "sure": error.sure} if error else None
                for sha, error in found.items()
            }
            self._replace(connection, rows)

    def of_source(self, source: str) -> Mapping[str, SoftError]:
        """What was seen of the versions parsed last, by address."""
        query = (
            sa.select(document.c.uri, soft_error.c.reason, soft_error.c.sure)
            .join(soft_error, soft_error.c.fragment_sha == document.c.fragment_sha)
            .where(document.c.source == source)
        )
        return {row.uri: SoftError(reason=row.reason, sure=row.sure) for row in self._rows(query)}


_COUNTS = ("seen", "kept", "lost", "invented")


class WordCoverages(FactTable):
    """What became of the words of documents; no row of a fragment that a version before parsed: not known."""

    table = word_coverage

    def save(self, found: Mapping[str, WordCoverage | None]) -> None:
        """Write the counts by the hash of the fragment; None leaves what is known as it is."""
        rows = {
            sha: {**{name: getattr(coverage, name) for name in _COUNTS}, "dropped": dict(coverage.dropped)}
            for sha, coverage in found.items()
            if coverage is not None
        }
        with self._engine.begin() as connection:
            self._replace(connection, rows)

    def counts(self) -> Mapping[str, CoverageCounts]:
        """Counts of what is read now, by source."""
        rows, own = word_coverage.c, document.c
        notable = sa.case((rows.lost > NOTABLE * rows.seen, 1), else_=0)
        sums = {
            "documents": sa.func.count(rows.fragment_sha),
            "unknown": sa.func.count(own.uri) - sa.func.count(rows.fragment_sha),
            **{name: sa.func.coalesce(sa.func.sum(rows[name]), 0) for name in _COUNTS},
            "notable": sa.func.coalesce(sa.func.sum(notable), 0),
        }
        query = (
            sa.select(own.source, *(value.label(name) for name, value in sums.items()))
            .outerjoin(word_coverage, rows.fragment_sha == own.fragment_sha)
            .where(own.state.in_(READABLE), own.fragment_sha.is_not(None))
            .group_by(own.source)
        )
        names = [one.name for one in fields(CoverageCounts)]
        with self._reading.connect() as connection:
            # A ledger that may only be read, made by a version before, has no such table.
            if not sa.inspect(connection).has_table(word_coverage.name):
                return {}
            found = connection.execute(query).mappings()
            return {
                row["source"]: CoverageCounts(**{name: int(row[name]) for name in names}) for row in found
            }

    def of_textless(self, source: str) -> Mapping[str, tuple[str, ...]]:
        """Documents of a source without a word, by address, with why words of theirs were dropped."""
        query = (
            sa.select(document.c.uri, word_coverage.c.dropped)
            .outerjoin(word_coverage, word_coverage.c.fragment_sha == document.c.fragment_sha)
            .where(document.c.source == source, document.c.words == 0, document.c.state.in_([*READABLE]))
        )
        with self._reading.connect() as connection:
            if not sa.inspect(connection).has_table(word_coverage.name):
                return {}
            return {row.uri: tuple(sorted(row.dropped or ())) for row in connection.execute(query)}
