from dataclasses import replace

import pytest

from schemas.nodes import Page, Section
from tests.fakes.pages import parse_page


def crumbs(page: str) -> tuple[str, ...]:
    (node,) = (node for node in parse_page(page).nodes if isinstance(node, Page))
    return node.breadcrumbs


def test_the_title_is_the_first_h1_else_the_title_element() -> None:
    assert parse_page("<title>Site - A</title><h1>A</h1>").title == "A"
    assert parse_page("<title> Site - A </title><p>x</p>").title == "Site - A"


def test_the_language_is_the_one_the_page_states() -> None:
    assert {chunk.lang for chunk in parse_page("<html lang=de-AT><body><p>Servus</p></html>").chunks} == {
        "de-AT"
    }


@pytest.mark.parametrize(
    ("meta", "header", "expected"),
    [
        ("noindex, nofollow", None, (True, True)),
        ("none", None, (True, True)),
        ("index, follow", None, (False, False)),
        ("", "noindex", (True, False)),
        ("", "otherbot: noindex, nofollow", (False, False)),
        ("", "otherbot: noindex\nsitegraph: nofollow", (False, True)),
        ("", "max-snippet: 20, nofollow", (False, True)),
    ],
)
def test_robots_directives_are_obeyed(meta: str, header: str | None, expected: tuple[bool, bool]) -> None:
    known = {} if header is None else {"x_robots_tag": header}
    fragment = parse_page(f'<meta name=robots content="{meta}"><h1>A</h1>', **known)
    assert (fragment.noindex, fragment.nofollow) == expected


def test_breadcrumbs_are_the_trail_the_page_prints() -> None:
    assert crumbs(
        '<nav aria-label="Breadcrumb"><ol><li><a href=/>Home</a> »<li>Guide</ol></nav><h1>A</h1>'
    ) == ("Home", "Guide")


def test_what_a_theme_puts_beside_its_breadcrumbs_is_none() -> None:
    source = "<li class=wy-breadcrumbs-aside><a href=a.rst>View page source</a>"
    trail = f"<ul class=wy-breadcrumbs><li><a href=/>Guide</a><li>A{source}</ul>"
    assert crumbs(f"{trail}<h1>A</h1>") == ("Guide", "A")


def test_breadcrumbs_may_be_stated_for_machines() -> None:
    data = '{"@type":"BreadcrumbList","itemListElement":[{"name":"Home"},{"item":{"name":"Guide"}}]}'
    assert crumbs(f'<script type="application/ld+json">{data}</script><h1>A</h1>') == ("Home", "Guide")


def test_breadcrumbs_may_be_read_from_the_links_to_start_and_above() -> None:
    page = "<a accesskey=h title='Manual 15'>Home</a><a accesskey=u title=Commands>Up</a><h1>SELECT</h1>"
    assert crumbs(page) == ("Manual 15", "Commands", "SELECT")


def test_breadcrumbs_fall_back_to_the_address() -> None:
    assert crumbs("<h1>A</h1>") == ("guide", "A")


def test_malformed_machine_data_is_no_trail() -> None:
    page = '<script type="application/ld+json">[[[{"@graph": 3}, null]</script><h1>A</h1>'
    assert crumbs(page) == ("guide", "A")


@pytest.mark.parametrize(
    ("page", "number", "heading"),
    [
        (
            "<h2><span class=section-number>8.1. </span>Oil<a class=headerlink href=#o>¶</a></h2>",
            "8.1",
            "Oil",
        ),
        ("<h2><bdi class=secno>A.2 </bdi>Oil</h2>", "A.2", "Oil"),
        ("<meta name=generator content=DocBook><h2>Chapter 8. Oil</h2>", "Chapter 8", "Oil"),
        ("<h2>8 lamps</h2>", None, "8 lamps"),
    ],
)
def test_the_number_of_a_heading_is_kept_apart(page: str, number: str | None, heading: str) -> None:
    fragment = parse_page(f"{page}<p>Oil burns.</p>")
    (section,) = (node for node in fragment.nodes if isinstance(node, Section) and node.heading)
    assert (section.number, section.heading, section.heading_path) == (number, heading, (heading,))


def test_another_number_changes_no_text_and_no_hash_and_finds_the_section() -> None:
    page = "<h2><span class=section-number>{}. </span>Oil</h2><p>Oil burns.</p>"
    first, second = parse_page(page.format("8.1")), parse_page(page.format("8.2"))
    assert [replace(one, codes=()) for one in first.chunks] == [
        replace(one, codes=()) for one in second.chunks
    ]
    assert [one.codes for one in (*first.chunks, *second.chunks)] == [("8.1",), ("8.2",)]
    assert first.content_hash == second.content_hash
    assert first.nodes != second.nodes
