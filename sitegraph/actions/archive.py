"""What pages read besides the current generation: the ledger, earlier generations, pictures of pages."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from indexes.chunk_tables import ChunkTables
from indexes.layout import IndexLayout
from indexes.ports import ChunkReader
from indexes.wiring import Readers
from runtime.page_images import WITHHELD, DrawnPage, draw_page_apart, stored_bytes
from schemas.documents import Ancestor
from schemas.errors import ParseError, SitegraphError
from schemas.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexes.stores.ledger.ledger import Ledger
    from schemas.changes import FeedEntry

PICTURES = 16
"""Pictures that are kept: a page asks for its size, and the browser for its pixels right after."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """The ledger, and the generations that led to the one that is read, newest first."""

    ledger: "Ledger"
    line: tuple[Ancestor, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of those generations."""
        return tuple(one.generation for one in self.line)

    def entries_of(self, id_: str) -> "Sequence[FeedEntry]":
        """Return what those generations did to an id, in order."""
        return self.ledger.lineage.of_id(id_, self.numbers)


class LedgerArchive:
    """Opens what is asked of it and closes it again; several threads may ask. Nothing is written.

    *draw_seconds* are what drawing a page may take: less than a request, so that its text comes without it.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        now: Callable[[], str],
        warn: Callable[[str], None],
        draw_seconds: float,
    ) -> None:
        self.now = now
        self._draw_seconds = draw_seconds
        self._settings = settings
        self.warn = warn
        self._pictures: OrderedDict[tuple[int, str, int, int], DrawnPage] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def opened(self) -> Iterator["Ledger"]:
        """Open the ledger. Raises: as `open_own_ledger` does."""
        from indexes.own_ledger import open_own_ledger

        layout, url = IndexLayout(Path(self._settings.index).resolve()), self._settings.ledger_url
        with closing(open_own_ledger(layout, url, now=self.now, read_only=True)) as ledger:
            yield ledger

    def past(self, readers: Readers, ask: Callable[[Past], T]) -> T | None:
        """Return what *ask* makes of the past of a generation; None where the ledger cannot be read."""
        try:
            with self.opened() as ledger:
                return ask(Past(ledger=ledger, line=ledger.lineage.of(readers.generation)))
        except SitegraphError as error:
            self.warn(f"sitegraph: warning: a page is shown without the ledger: {error}")
            return None

    @contextmanager
    def chunks_at(self, readers: Readers, generation: int) -> Iterator[ChunkReader]:
        """Open the chunks of another generation of the same index.

        Raises: StoreUnavailable: it is kept no longer.
        """
        with closing(ChunkTables(IndexLayout(readers.index), readers.manifest)) as store:
            yield store.at(generation)

    def page(self, readers: Readers, doc: str, page_no: int, *, generation: int, dpi: int) -> DrawnPage:
        """Draw a page of a PDF as *generation* has it, the one that is read or one before.

        Raises: ParseError: it cannot be drawn; StoreUnavailable: its bytes are not there.
        """
        key = (generation, doc, page_no, dpi)
        with self._lock:
            if key in self._pictures:
                self._pictures.move_to_end(key)
                return self._pictures[key]
        data = stored_bytes(self._settings, readers, generation=generation)(doc)
        if data is None:
            raise ParseError(WITHHELD, subject=doc)
        drawn = draw_page_apart(data, page_no, dpi=dpi, seconds=self._draw_seconds)
        with self._lock:
            self._pictures[key] = drawn
            while len(self._pictures) > PICTURES:
                self._pictures.popitem(last=False)
        return drawn
