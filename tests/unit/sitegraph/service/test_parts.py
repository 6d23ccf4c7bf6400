"""The documents that an agent means by an address, as the command `graph` finds them."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from indexes.layout import IndexLayout
from indexes.stores.ledger.ledger import open_ledger
from schemas.settings import Settings
from sitegraph.service.guard import RequestLimits
from sitegraph.service.parts import Parts, open_service_parts
from tests.fakes.ledger_rows import SITE, make_known


@pytest.fixture
def parts(folder: Path, tmp_path: Path) -> Iterator[Parts]:
    """What a service reads of an index whose ledger knows a page, and an old address that leads to it."""
    index = tmp_path / "index"
    shutil.copytree(folder, index)
    with closing(open_ledger(f"sqlite:///{IndexLayout(index).ledger}")) as opened:
        opened.documents.save(
            [
                make_known("guide/keys.html", doc="page:keys"),
                make_known("old/keys", location=f"{SITE}/guide/keys.html"),
                make_known("a/start.html", doc="page:a"),
                make_known("b/start.html", doc="page:b"),
            ]
        )
    with open_service_parts(Settings(index=str(index)), RequestLimits()) as made:
        yield made


@pytest.mark.parametrize(
    "name",
    [
        f"{SITE}/guide/keys.html",
        f"{SITE}/guide/keys.html#rotation",
        f"{SITE}/guide/../guide/keys.html?utm_source=news",
        f"{SITE}/old/keys",
        SITE.replace("https", "HTTPS") + "/guide/keys.html",
        "keys.html",
        "/guide/keys.html#rotation",
    ],
)
def test_any_spelling_of_an_address_and_one_that_leads_there_mean_the_document(
    parts: Parts, name: str
) -> None:
    assert parts.documents(name) == ("page:keys",)


@pytest.mark.parametrize("name", ["start.html", "nothing.html", "http://[x#y", "#top", f"{SITE}/nothing"])
def test_what_is_ambiguous_or_unknown_means_none(parts: Parts, name: str) -> None:
    assert parts.documents(name) == ()
