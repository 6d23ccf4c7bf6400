"""Which bytes a fragment was read from: those of a PDF are drawn for as long as readers see the fragment."""

from collections.abc import Collection, Mapping

import sqlalchemy as sa

from indexes.stores.ledger.replaced import FileKind, note_values
from indexes.stores.ledger.retention import needed_fragments
from indexes.stores.ledger.revisions import valid_at
from indexes.stores.ledger.tables import doc_rev, origin, upsert

_IN_LIMIT = 500


class Origins:
    """The `origin` table; the document's own row tells only what came last, which may be no good."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def save(self, raw_shas: Mapping[str, str | None]) -> None:
        """Write the bytes of fragments, hash to hash, None where they were not kept; the last ones count."""
        rows = [{"fragment_sha": fragment, "raw_sha": raw} for fragment, raw in raw_shas.items()]
        with self._engine.begin() as connection:
            note_values(connection, FileKind.RAW, origin.c.fragment_sha, origin.c.raw_sha, raw_shas)
            upsert(connection, origin, rows)

    def of_generation(
        self, generation: int, *, docs: Collection[str] | None = None
    ) -> Mapping[str, str | None]:
        """Hash of the bytes by node id, of all documents of the generation that had any, or of *docs*.

        None where the bytes held secrets and were not kept.
        """
        query = (
            sa.select(doc_rev.c.doc, origin.c.raw_sha)
            .join(origin, origin.c.fragment_sha == doc_rev.c.fragment_sha)
            .where(*valid_at(doc_rev, generation))
            .order_by(doc_rev.c.doc)
        )
        if docs is not None:
            query = query.where(doc_rev.c.doc.in_(sorted(docs)))
        with self._reading.connect() as connection:
            return {row.doc: row.raw_sha for row in connection.execute(query)}

    def of_fragments(self, shas: Collection[str]) -> Mapping[str, str | None]:
        """Hash of the bytes by that of the fragment; a fragment that is of no PDF is left out."""
        ordered, found = sorted(shas), dict[str, str | None]()
        with self._reading.connect() as connection:
            for start in range(0, len(ordered), _IN_LIMIT):
                part = origin.c.fragment_sha.in_(ordered[start : start + _IN_LIMIT])
                rows = connection.execute(sa.select(origin).where(part))
                found |= {row.fragment_sha: row.raw_sha for row in rows}
        return found

    def collect(self) -> int:
        """Drop the rows of fragments that nothing needs any more; give how many."""
        with self._engine.begin() as connection:
            gone = sa.delete(origin).where(origin.c.fragment_sha.not_in(needed_fragments()))
            return connection.execute(gone).rowcount
