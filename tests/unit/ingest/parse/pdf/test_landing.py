"""Links inside a PDF are counted and capped."""

import pytest

from ingest.parse.pdf import landing
from ingest.parse.pdf.landing import Places, find_inner_links
from ingest.parse.pdf.links import Destination, PageLink
from ingest.parse.pdf.page import PageContent
from schemas.nodes import BBox, PageSize


def page_of_links(number: int) -> PageContent:
    links = tuple(
        PageLink(text=f"topic {at}", bbox=BBox(0, 0, 9, 9), destination=Destination(page_no=1))
        for at in range(number)
    )
    return PageContent(page_no=1, size=PageSize(100, 100), links=(*links, *links[:1]))


def test_equal_links_are_one_with_a_count() -> None:
    found, warnings = find_inner_links([page_of_links(3)], Places(()))

    assert [(link.text, count) for link, count in found] == [("topic 0", 2), ("topic 1", 1), ("topic 2", 1)]
    assert warnings == ()


def test_more_links_than_the_limit_are_left_out_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landing, "MAX_LINKS", 2)
    found, warnings = find_inner_links([page_of_links(5)], Places(()))

    assert [link.text for link, _ in found] == ["topic 0", "topic 1"]
    assert warnings == ("links: 3 inside the document over the limit of 2 left out",)
