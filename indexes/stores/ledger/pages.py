"""Where it is kept what the pages of a PDF gave, by the fragment that was made of them."""

from collections.abc import Collection, Mapping

import sqlalchemy as sa

from indexes.stores.ledger.replaced import FileKind, note_values
from indexes.stores.ledger.retention import needed_fragments
from indexes.stores.ledger.revisions import valid_at
from indexes.stores.ledger.tables import doc_rev, pages, upsert


class PdfPages:
    """The `pages` table. What it names is worth the time to read it again, and no more: it may be lost."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def save(self, pages_shas: Mapping[str, str | None]) -> None:
        """Write the pages of fragments, hash to hash; None where none are kept, or no longer."""
        rows = [{"fragment_sha": one, "pages_sha": sha} for one, sha in pages_shas.items() if sha]
        gone = sorted(one for one, sha in pages_shas.items() if not sha)
        with self._engine.begin() as connection:
            note_values(connection, FileKind.FRAGMENT, pages.c.fragment_sha, pages.c.pages_sha, pages_shas)
            upsert(connection, pages, rows)
            connection.execute(sa.delete(pages).where(pages.c.fragment_sha.in_(gone)))

    def of(self, fragment_shas: Collection[str]) -> Mapping[str, str]:
        """Hash of the pages by fragment, of those fragments of which any are kept."""
        query = sa.select(pages).where(pages.c.fragment_sha.in_(sorted(fragment_shas)))
        with self._reading.connect() as connection:
            return {row.fragment_sha: row.pages_sha for row in connection.execute(query)}

    def of_generation(self, generation: int) -> Mapping[str, str]:
        """Hash of the pages by node id, of the documents of a generation of which any are kept."""
        query = (
            sa.select(doc_rev.c.doc, pages.c.pages_sha)
            .join(pages, pages.c.fragment_sha == doc_rev.c.fragment_sha)
            .where(*valid_at(doc_rev, generation))
            .order_by(doc_rev.c.doc)
        )
        with self._reading.connect() as connection:
            return {row.doc: row.pages_sha for row in connection.execute(query)}

    def collect(self) -> int:
        """Drop the rows of fragments that nothing needs any more; give how many."""
        with self._engine.begin() as connection:
            gone = sa.delete(pages).where(pages.c.fragment_sha.not_in(needed_fragments()))
            return connection.execute(gone).rowcount
