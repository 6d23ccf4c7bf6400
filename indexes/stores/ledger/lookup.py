"""Documents by whatever somebody has of them: an address, a node id, an id of their own."""

from collections.abc import Iterable

import sqlalchemy as sa

from indexes.stores.ledger.generations import GenerationState
from indexes.stores.ledger.tables import doc_rev, document, generation
from schemas.documents import KnownDocument
from schemas.records import from_record

_LAST = "\U0010ffff"


class Lookup:
    """Questions of people about single documents, over all sources; each reads the whole table once."""

    def __init__(self, engine: sa.Engine) -> None:
        self._reading = engine.execution_options(read_only=True)

    def by_uris(self, uris: Iterable[str]) -> tuple[KnownDocument, ...]:
        """Documents of any of the addresses, ordered by source and URI."""
        return self._documents(document.c.uri.in_(sorted(set(uris))))

    def by_doc(self, doc: str) -> tuple[KnownDocument, ...]:
        """Documents of a node id, ordered by source and URI."""
        return self._documents(document.c.doc == doc)

    def by_doc_id(self, doc_id: str) -> tuple[KnownDocument, ...]:
        """Documents of an id of their own (`GOV-0017`; case of ASCII letters folded)."""
        # Not by the database: a server has a language for letters that stand in no column (tables.py).
        folded = doc_id.encode("utf-8", "replace").lower().decode()
        return self._documents(sa.func.lower(document.c.doc_id) == folded)

    def ending_with(self, path: str, *, limit: int) -> tuple[KnownDocument, ...]:
        """The first documents whose address ends with */path*, ordered by source and URI."""
        # Not by LIKE, for which SQLite folds case.
        tail = f"/{path}"
        start = sa.func.length(document.c.uri) - len(tail) + 1
        return self._documents(sa.func.substr(document.c.uri, start) == tail, limit=limit)

    def leading_to(self, uri: str) -> tuple[KnownDocument, ...]:
        """Documents whose address leads to this one: redirects, and equals that it stands for."""
        return self._documents(document.c.location == uri)

    def uris_below(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        """The first addresses that begin with *prefix*, in order."""
        query = sa.select(document.c.uri).where(document.c.uri >= prefix, document.c.uri < prefix + _LAST)
        with self._reading.connect() as connection:
            return tuple(connection.execute(query.order_by(document.c.uri).limit(limit)).scalars())

    def doc_ids(self, *, limit: int) -> tuple[str, ...]:
        """The first ids that documents have of their own, in order."""
        query = sa.select(document.c.doc_id).distinct().where(document.c.doc_id.is_not(None))
        with self._reading.connect() as connection:
            return tuple(connection.execute(query.order_by(document.c.doc_id).limit(limit)).scalars())

    def published_in(self, doc: str) -> tuple[int, ...]:
        """Published generations that contain the document, oldest first, as far back as the ledger goes."""
        number = generation.c.generation
        held = sa.and_(doc_rev.c.valid_from <= number, doc_rev.c.valid_to > number)
        query = (
            sa.select(number)
            .join(doc_rev, held)
            .where(doc_rev.c.doc == doc, generation.c.state == GenerationState.PUBLISHED.value)
            .order_by(number)
        )
        with self._reading.connect() as connection:
            return tuple(connection.execute(query).scalars())

    def _documents(
        self, condition: sa.ColumnElement[bool], *, limit: int | None = None
    ) -> tuple[KnownDocument, ...]:
        query = sa.select(document).where(condition).order_by(document.c.source, document.c.uri).limit(limit)
        with self._reading.connect() as connection:
            return tuple(from_record(KnownDocument, dict(row._mapping)) for row in connection.execute(query))
