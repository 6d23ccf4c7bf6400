"""Files of tools between two generations."""

from dataclasses import replace

from ingest.diff.documents import diff_tools, without_tools
from schemas.changes import ChangeKind
from schemas.documents import LiveDocument
from schemas.ids import page_id, tools_doc_id


def _file(path: str, content: str = "c", fragment: str = "f") -> LiveDocument:
    uri = f"tools://shop/{path}"
    return LiveDocument(
        doc=tools_doc_id(uri), source="shop", uri=uri, fragment_sha=fragment, content_hash=content
    )


_PAGE = replace(_file("x"), doc=page_id("https://shop.test/"), uri="https://shop.test/")


def _live(*documents: LiveDocument) -> dict[str, LiveDocument]:
    return {document.doc: document for document in documents}


def test_a_file_comes_changes_and_goes_by_what_it_says() -> None:
    new, kept, changed, refreshed, gone = (_file(name) for name in ("new", "kept", "changed", "same", "gone"))
    live = _live(kept, changed, refreshed, gone, _PAGE)
    now = [
        new,
        kept,
        replace(changed, content_hash="d", fragment_sha="g"),
        replace(refreshed, fragment_sha="g"),
    ]
    assert {change.uri: change.kind for change in diff_tools(now, live)} == {
        new.uri: ChangeKind.ADDED,
        changed.uri: ChangeKind.CHANGED,
        refreshed.uri: ChangeKind.REFRESHED,
        gone.uri: ChangeKind.REMOVED,
    }


def test_changes_come_in_the_order_of_node_ids() -> None:
    changes = diff_tools([_file(str(number)) for number in range(9)], {})
    assert [change.doc for change in changes] == sorted(change.doc for change in changes)


def test_documents_of_the_site_are_none_of_its_tools() -> None:
    assert diff_tools([], _live(_PAGE)) == ()
    assert without_tools(_live(_PAGE, _file("a"))) == _live(_PAGE)
