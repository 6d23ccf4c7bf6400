import pytest

from ingest.parse.links import CollectedLinks, FoundLink, collect_links
from schemas.edges import LinkPosition

BASE = "http://docs.example/guide/start.html"


def body(href: str, text: str = "here") -> FoundLink:
    return FoundLink(href, text, LinkPosition.BODY)


def test_a_link_is_resolved_and_its_fragment_kept_apart() -> None:
    (link,) = collect_links([body("../api.html#the%20end")], base=BASE).links
    assert (link.target, link.fragment) == ("http://docs.example/api.html", "the end")


def test_a_route_is_the_address_of_a_link_where_scripts_ran_and_else_a_fragment() -> None:
    hrefs = [body("#/api?id=end"), body("#end"), body("#/")]
    ran = [(link.target, link.fragment) for link in collect_links(hrefs, base=BASE, routed=True).links]
    assert ran == [(f"{BASE}#/api?id=end", None), (BASE, "end"), (BASE, "/")]
    plain = [(link.target, link.fragment) for link in collect_links(hrefs, base=BASE).links]
    assert plain == [(BASE, "/api?id=end"), (BASE, "end"), (BASE, "/")]


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
    "href", ["mailto:a@b.c", "javascript:void(0)", "data:text/plain,x", "tel:1", "whatsapp:x"]
)
def test_what_names_no_document_is_no_link(href: str) -> None:
    assert collect_links([body(href)], base=BASE) == CollectedLinks(())


def test_every_link_of_a_general_index_is_kept() -> None:
    found = collect_links([body(f"p{n}.html") for n in range(33_173)], base=BASE)
    assert [link.target for link in found.links[-1:]] == [f"{BASE.rpartition('/')[0]}/p33172.html"]
    assert (len(found.links), found.warnings) == (33_173, ())


def test_links_longer_than_any_address_may_be_are_left_out_and_said() -> None:
    data = body("data:text/plain," + "x" * 3000)
    assert collect_links(
        [body("?q=" + "x" * 3000), body("?q=" + "y" * 3000), data], base=BASE
    ) == CollectedLinks((), ("links: 2 longer than 2048 characters left out",))


@pytest.mark.parametrize(
    ("href", "target"),
    [
        (" two words.html\n", "/guide/two%20words.html"),
        ("two\n words.html", "/guide/two%20words.html"),
        ("two%20words.html", "/guide/two%20words.html"),
        ("two%2520words.html", "/guide/two%2520words.html"),
        ("..\\api\\all.html", "/api/all.html"),
        ("\\\\docs.example\\all.html", "/all.html"),
        ("//docs.example/all.html", "/all.html"),
        ("///docs.example/all.html", "/all.html"),
        ("parts//all.html", "/guide/parts//all.html"),
        ("http:all.html", "/guide/all.html"),
        ("stra\u00dfe.html", "/guide/stra%C3%9Fe.html"),
        ("stra%c3%9fe.html", "/guide/stra%C3%9Fe.html"),
        ("\u00a0all.html", "/guide/%C2%A0all.html"),
        ("?word=stra\u00dfe", "/guide/start.html?word=stra%C3%9Fe"),
        ("/%2e%2e/./all.html", "/all.html"),
        ("100%.html", "/guide/100%.html"),
    ],
)
def test_an_address_is_read_as_browsers_read_it(href: str, target: str) -> None:
    (link,) = collect_links([body(href)], base=BASE).links
    assert link.target == f"http://docs.example{target}"


def test_addresses_that_no_browser_could_follow_are_one_line_and_no_password_is_repeated() -> None:
    wrong = [body("http://me:secret@docs.example/"), body("http://[bad"), body("http://[bad"), body("//")]
    assert collect_links([*wrong, body("a.html")], base=BASE).warnings == (
        "links: 3 that no browser could follow left out, such as 'http://[bad'",
    )
    (line,) = collect_links(wrong[:1], base=BASE).warnings
    assert line == "links: 1 that no browser could follow left out"
