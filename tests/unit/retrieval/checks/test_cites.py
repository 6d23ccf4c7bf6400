"""Which passages an entry means."""

from dataclasses import replace

import pytest

from retrieval.checks.examine import is_cited, passages_of
from tests.unit.retrieval.checks.test_states import chunk

HERE = replace(
    chunk("A lease is valid for 30 seconds."),
    doc_id="GOV-0017",
    url="https://example.org/guide/leases.html",
    fragment="expiry",
    fragments=("old-expiry",),
    breadcrumbs=("Handbook",),
    heading_path=("Leases", "Expiry of Leases"),
)
PAGE = replace(chunk("A lease."), url="https://example.org/m.pdf", file_path="files/m.pdf", page_no=3)


@pytest.mark.parametrize(
    "entry",
    [
        "page:a",
        "chunk:0",
        "section:a",
        "GOV-0017",
        "GOV-0017#expiry",
        "https://example.org/guide/leases.html",
        "https://example.org/guide/leases.html#expiry",
        "https://example.org/guide/leases.html#old-expiry",
        "Leases > Expiry of leases",
        "Handbook > Leases > Expiry of Leases",
    ],
)
def test_an_entry_means_the_passage(entry: str) -> None:
    assert is_cited(entry, HERE)


@pytest.mark.parametrize(
    "entry",
    [
        "https://example.org/guide/leases.html#renewal",
        "https://example.org/guide",
        "GOV-001",
        "Handbook > Leases",
        "Guide > Expiry of leases",
        "",
    ],
)
def test_an_entry_of_another_place_does_not(entry: str) -> None:
    assert not is_cited(entry, HERE)


@pytest.mark.parametrize(
    ("entry", "means"), [("m.pdf#page=3", True), ("files/m.pdf", True), ("m.pdf#page=31", False)]
)
def test_a_page_of_a_pdf(entry: str, means: bool) -> None:
    assert is_cited(entry, PAGE) is means


def test_a_fragment_means_all_that_stands_under_its_headings() -> None:
    entry = "https://example.org/guide/leases.html#expiry"
    behind = replace(HERE, id="chunk:8", fragment="id-1.6.7", fragments=())
    beside = replace(behind, id="chunk:9", heading_path=("Leases", "Renewal"))
    assert passages_of(entry, [HERE, behind, beside]) == (HERE, behind)
    assert passages_of("GOV-0017", [HERE, behind, beside]) == (HERE, behind, beside)
    assert passages_of(entry, [behind]) == ()
