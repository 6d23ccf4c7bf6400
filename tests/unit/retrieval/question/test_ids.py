"""Ids in a question, and the documents that they are."""

import pytest

from ingest.parse.chunking import document_codes
from retrieval.question.ids import BoundIds, bind_ids
from tests.fakes.small_index import SmallIndex, build_index, page

IDS = ("GOV-0017", "PRD-0008-intake", "PRD-0009-reading-room", "PRD-0009-lamps", "ADR-00081", "backup-guide")


@pytest.fixture(scope="module")
def index() -> SmallIndex:
    pages = [
        page(one.lower(), {f"About {n}": "Nothing to see."}, doc_id=one, codes=document_codes(one))
        for n, one in enumerate(IDS)
    ]
    return build_index(pages, ())


def bind(index: SmallIndex, text: str) -> BoundIds:
    return bind_ids(index.chunks, text, index.encoder.encode_query(text))


@pytest.mark.parametrize(
    ("text", "token", "count"),
    [
        ("What does gov-0017 say?", "gov-0017", 1),
        ("What does Gov-0017 say?", "Gov-0017", 1),
        ("PRD-0008", "PRD-0008", 1),
        ("prd-0008", "prd-0008", 1),
        ("PRD-0009-rea", "PRD-0009-rea", 1),
        ("PRD-0009", "PRD-0009", 2),
        ("BACKUP-GUIDE", "BACKUP-GUIDE", 1),
    ],
)
def test_ids_bind_in_any_case_and_by_their_beginning(
    index: SmallIndex, text: str, token: str, count: int
) -> None:
    assert {token: len(docs) for token, docs in bind(index, text).documents.items()} == {token: count}


def test_an_id_that_binds_to_nothing_or_to_several_says_why(index: SmallIndex) -> None:
    assert bind(index, "GOV-9999 and write-ahead").problems == ("no document has the id GOV-9999",)
    assert bind(index, "PRD-0009").problems == (
        "PRD-0009 begins 2 ids (PRD-0009-lamps, PRD-0009-reading-room); all are meant",
    )
    several = bind(index, "PRD-0009-")
    assert several.documents.keys() <= {"PRD-0009"}
    assert bind(index, "ADR-0008").documents == {}


def test_a_long_document_hides_no_id_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval.question.ids.EXACT", 3)
    sections = {f"Part {n}": "GOV-0009 and ADR-0010 relate." for n in range(9)}
    long = page("gov-0009", sections, doc_id="GOV-0009")
    index = build_index([long, page("adr-0010", {"Ink": "Nothing."}, doc_id="ADR-0010")], ())

    assert bind(index, "How are GOV-0009 and ADR-0010 related?").unknown == ()
