"""Which document is meant by an address, a path or an id, and what is said where none is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.run.index import Index
from schemas.documents import KnownDocument
from schemas.errors import ConfigError
from schemas.ids import page_id
from schemas.source import Scope
from sitegraph.actions.find import find_documents
from tests.fakes.known import SITE, file_source, known, web_source
from tests.fakes.ledger_index import ledger_index

PAGE, NOTE = SITE + "leave.html", "files://notes/guide/b%20c.md"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An index of a site, and of a folder of notes below the working folder."""
    with ledger_index(tmp_path / "index") as opened:
        opened.ledger.sources.save(web_source(scope=Scope(exclude=("*/drafts/*",))))
        opened.ledger.sources.save(file_source(roots=(str(tmp_path / "notes"),)))
        opened.ledger.documents.save(
            [
                known(PAGE, doc=page_id(PAGE), doc_id="GOV-0017"),
                known(SITE + "leave/sick.html", doc=page_id(SITE + "leave/sick.html")),
                known(NOTE, source="notes", doc=page_id(NOTE)),
            ]
        )
        yield opened


def found(index: Index, name: str, source: str | None = None) -> list[str]:
    return [document.uri for document in find_documents(index, name, source=source)]


@pytest.mark.parametrize(
    "name",
    [PAGE, "HTTPS://Docs.Example.org/handbook/x/../leave.html#sick", page_id(PAGE), "GOV-0017", "gov-0017"],
)
def test_a_page_is_found_by_its_address_its_node_and_its_own_id(index: Index, name: str) -> None:
    assert found(index, name) == [PAGE]


@pytest.mark.parametrize("name", ["sick.html", "leave/sick.html", "/handbook/leave/sick.html"])
def test_a_page_is_found_by_the_end_of_its_address(index: Index, name: str) -> None:
    assert found(index, name) == [SITE + "leave/sick.html"]


def test_the_end_of_several_addresses_names_them(index: Index) -> None:
    index.ledger.documents.save([known(SITE + "old/leave.html")])
    with pytest.raises(
        ConfigError, match=r"several addresses \(https://docs.*, https://docs.*\); give more of it"
    ):
        found(index, "leave.html")
    assert found(index, "old/leave.html") == [SITE + "old/leave.html"]


@pytest.mark.parametrize("name", [NOTE, "guide/b c.md", "./guide/b c.md", "notes/guide/b c.md"])
def test_a_file_is_found_by_its_path_below_the_root_or_the_working_folder(
    index: Index, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert found(index, name) == [NOTE]
    assert found(index, str(tmp_path / "notes" / "guide" / "b c.md")) == [NOTE]


def test_of_two_sources_that_know_a_page_one_may_be_chosen(index: Index) -> None:
    index.ledger.documents.save([KnownDocument(source="mirror", uri=PAGE)])

    assert found(index, PAGE) == [PAGE, PAGE]
    assert [d.source for d in find_documents(index, PAGE, source="mirror")] == ["mirror"]


@pytest.mark.parametrize(
    ("name", "source", "words"),
    [
        (SITE + "leaves.html", None, f"no seed, link, .*; the nearest that is known: {PAGE}$"),
        (SITE + "new/deep/page.html", "handbook", "the nearest that is known: https://docs.example.org/"),
        ("https://elsewhere.example/", None, "out of scope of handbook: outside the source's scope$"),
        (SITE + "drafts/a.html", None, "out of scope of handbook: excluded by scope.exclude$"),
        ("guide/b.md", None, f"no document has this .*; the nearest that is known: {NOTE}$"),
        ("GOV-0018", None, "the nearest that is known: GOV-0017$"),
        ("page:" + "a" * 26, None, "no document has this path or id$"),
        ("mailto://x", None, "is not an address that a document can have"),
        (PAGE, "nobody", "nobody: no such source; this index has: handbook, notes$"),
        (PAGE, "notes", "not known"),
    ],
)
def test_what_nobody_knows_is_one_line_that_says_what_is_near_or_why_it_is_out(
    index: Index, name: str, source: str | None, words: str
) -> None:
    with pytest.raises(ConfigError, match=words) as refused:
        find_documents(index, name, source=source)
    assert str(refused.value).startswith(source if source == "nobody" else name)


def test_an_index_without_documents_knows_nothing(tmp_path: Path) -> None:
    with ledger_index(tmp_path / "empty") as empty, pytest.raises(ConfigError, match="not known"):
        find_documents(empty, PAGE, source=None)
