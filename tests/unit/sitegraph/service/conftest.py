"""One index folder, and a service over it, for all tests of what speaks HTTP."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pymupdf
import pytest
from starlette.testclient import TestClient

from indexes.layout import IndexLayout
from indexes.stores.ledger.ledger import open_ledger
from indexes.stores.raw import FileRawStore
from schemas.changes import FeedChange, FeedEntry, FeedKind
from schemas.documents import LiveDocument
from schemas.settings import Settings
from sitegraph.service.guard import RequestLimits
from sitegraph.service.worker import ServeOptions, build_service
from tests.fakes.disk_index import write_index
from tests.fakes.exported_encoder import place_exported_encoder
from tests.fakes.governance import governance_documents
from tests.fakes.ledger_rows import begin, put
from tests.fakes.small_index import SOURCE

Serving = Callable[..., TestClient]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real index folder with the bytes of its PDF, and a ledger that knows them and generation 1's feed."""
    encoder = place_exported_encoder(tmp_path_factory.mktemp("encoder") / "default")
    root = write_index(tmp_path_factory.mktemp("serve") / "index", *governance_documents(), encoder=encoder)
    chunk = next(c for _, found in governance_documents()[0] for c in found if c.page_no == 3)
    live = LiveDocument(doc=chunk.doc, source=SOURCE, uri="files://x", fragment_sha="f", content_hash="c")
    with closing(open_ledger(f"sqlite:///{IndexLayout(root).ledger}")) as ledger:
        ledger.origins.save({"f": FileRawStore(IndexLayout(root).raw).put(three_pages())})
        number = begin(ledger, base=0)
        entries = [_added(f"chunk:{name}") for name in "abc"]
        ledger.generations.freeze(
            number, payloads=(), plan_sha="p", changes=[put(live)], details={}, feed=entries
        )
    return root


def _added(chunk: str) -> FeedEntry:
    return FeedEntry(
        kind=FeedKind.CHUNK,
        change=FeedChange.ADDED,
        old_id=None,
        new_id=chunk,
        source=SOURCE,
        uri="u",
        reason="r",
    )


def three_pages() -> bytes:
    """A PDF of three blank pages."""
    document = pymupdf.open()
    for _ in range(3):
        document.new_page(width=612, height=792)
    return bytes(document.tobytes())


@contextmanager
def serving(
    root: Path, *, deny: str | None = None, source_url: str | None = None, **options: object
) -> Iterator[TestClient]:
    """A client of a service over *root*."""
    settings = Settings(index=str(root), deny=deny, source_url=source_url)
    # A busy machine is no fault of the service.
    given = {"token": None, "hosts": None, "limits": RequestLimits(seconds=300.0), **options}
    service = build_service(ServeOptions(settings=settings, **given))  # type: ignore[arg-type]
    with TestClient(service, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(scope="session")
def client(folder: Path) -> Iterator[TestClient]:
    """A client of a service that nobody changes anything about."""
    with serving(folder) as opened:
        yield opened


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """The index, to be published to or harmed."""
    target = tmp_path / "index"
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("encoder"))
    (target / "encoder").symlink_to(folder / "encoder")
    return target
