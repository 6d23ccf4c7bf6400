"""What is said of links by what is known of their targets."""

import pytest

from retrieval.lint.site import LinkFault
from schemas.edges import LinkPosition
from schemas.fragment import GraphFragment, Link
from sitegraph.actions.lint import Targets, faulty_links, in_known_folder, linked_from

DOCS = {"t:a": "a", "t:b": "b", "t:old": "b", "files://t/old": "b"}


def page(*links: Link) -> GraphFragment:
    return GraphFragment(
        uri="t:a", doc="a", kind="html", content_hash="", nodes=(), edges=(), chunks=(), links=links
    )


def link(target: str, fragment: str | None = None, position: LinkPosition = LinkPosition.BODY) -> Link:
    return Link(target=target, text="there", position=position, fragment=fragment)


def faults(*links: Link) -> list[tuple[LinkFault, str]]:
    targets = Targets(
        docs=DOCS,
        missing=lambda target: "which answers 404" if target == "t:gone" else "",
        moved=lambda target: "b.html" if target.endswith("old") else "",
        lacks=lambda doc, fragment: fragment != "here",
        shown=lambda target: target.removeprefix("t:"),
    )
    return [(one.fault, one.why) for one in faulty_links(page(*links), targets)]


def test_what_is_gone_is_missing_and_what_nobody_knows_of_is_not() -> None:
    assert faults(link("t:gone"), link("t:never-seen"), link("t:b")) == [
        (LinkFault.MISSING, "which answers 404")
    ]


def test_an_id_that_a_page_lacks_is_a_fault_on_other_pages_and_on_its_own() -> None:
    found = faults(link("t:b", "there"), link("t:b", "here"), link("t:a", "there"))

    assert [fault for fault, _ in found] == [LinkFault.NO_FRAGMENT] * 2


@pytest.mark.parametrize("name", ["top", "Top", "!page", "/guide", "page=2", ":~:text=word", "L12", "L3-L9"])
def test_a_fragment_that_is_no_id_is_no_fault(name: str) -> None:
    assert faults(link("t:b", name)) == []


def test_a_redirect_is_told_with_its_end() -> None:
    assert faults(link("t:old")) == [(LinkFault.REDIRECTED, "which leads on to b.html")]


def test_a_link_to_a_file_under_its_former_path_is_dead() -> None:
    assert faults(link("files://t/old", "there")) == [
        (LinkFault.MISSING, "which is not there; what it said is in b.html")
    ]


def test_a_page_does_not_lead_to_itself() -> None:
    nav = LinkPosition.NAV

    assert list(linked_from(page(link("t:a"), link("t:b", position=nav), link("t:gone")), DOCS)) == [
        ("b", nav)
    ]


def test_another_part_of_the_server_is_no_folder_of_the_source() -> None:
    known = ("index.html", "guide/start.html")

    assert in_known_folder("guide/gone.html", known)
    assert in_known_folder("gone.html", known)
    assert not in_known_folder("usr/share/doc/click/api.html", known)
