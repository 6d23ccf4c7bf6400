import pytest

from ingest.parse.links import MAX_LINKS, CollectedLinks, FoundLink, collect_links
from schemas.edges import LinkPosition

BASE = "http://docs.example/guide/start.html"


def body(href: str, text: str = "here") -> FoundLink:
    return FoundLink(href, text, LinkPosition.BODY)


def test_a_link_is_resolved_and_its_fragment_kept_apart() -> None:
    (link,) = collect_links([body("../api.html#the%20end")], base=BASE).links
    assert (link.target, link.fragment) == ("http://docs.example/api.html", "the end")


def test_equal_links_are_counted_and_unequal_ones_kept_apart() -> None:
    nav = FoundLink("a.html", "here", LinkPosition.NAV)
    found = [body("a.html"), nav, body("./a.html"), body("a.html", "there")]
    links = collect_links(found, base=BASE).links
    assert [(link.text, link.position.value, link.count) for link in links] == [
        ("here", "body", 2),
        ("here", "nav", 1),
        ("there", "body", 1),
    ]


@pytest.mark.parametrize(
    "href", ["mailto:a@b.c", "javascript:void(0)", "data:text/plain,x", "http://[bad", "tel:1"]
)
def test_what_names_no_document_is_no_link(href: str) -> None:
    assert collect_links([body(href)], base=BASE) == CollectedLinks(())


def test_links_over_the_limit_are_left_out_and_said() -> None:
    found = collect_links([body(f"p{n}.html") for n in range(MAX_LINKS + 5)], base=BASE)
    assert len(found.links) == MAX_LINKS
    assert found.warnings == (f"links: 5 over the limit of {MAX_LINKS} left out",)


def test_links_longer_than_any_address_may_be_are_left_out_and_said() -> None:
    data = body("data:text/plain," + "x" * 3000)
    assert collect_links(
        [body("?q=" + "x" * 3000), body("?q=" + "y" * 3000), data], base=BASE
    ) == CollectedLinks((), ("links: 2 longer than 2048 characters left out",))
