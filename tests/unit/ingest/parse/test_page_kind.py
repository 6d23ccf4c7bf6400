"""What a page is to its site, by structure alone: names and languages do not matter."""

import pytest

from ingest.parse.html.page import parse_html
from ingest.parse.markdown.page import parse_markdown
from ingest.parse.outline import Block, Heading, OutlineSection, Part, build_outline
from ingest.parse.page_kind import page_kind
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import Page, PageKind, Section

URI = "https://docs.example/page.html"


def section(heading: str, text: str = "", *, level: int = 2, linked: int = 0) -> tuple[Part, ...]:
    """A heading and a text whose first *linked* characters are a link each ten."""
    links = tuple((at, min(at + 10, linked), object()) for at in range(0, linked, 10))
    return (Heading(text=heading, level=level), Block(text=text, links=links))


def outline(*sections: tuple[Part, ...]) -> tuple[OutlineSection, ...]:
    return build_outline([part for one in sections for part in one])


PROSE = "A berth is let for a year, and the keeper writes down who has it, and until when. " * 6


@pytest.mark.parametrize(
    ("headings", "kind"),
    [
        (("1.4.0 - 2024-03-01", "1.3.2", "v1.3.1", "1.3.0 (unreleased)"), PageKind.CHANGES),
        (("Version 2.2.0", "Version 2.1.9", "Version 2.1.8"), PageKind.CHANGES),
        (("[3.1.0] - 2025-01-02", "[3.0.0] - 2024-01-02", "[2.9.9]"), PageKind.CHANGES),
        (("2024-03-01", "2024-02-01", "2024-01-01"), PageKind.CHANGES),
        (("Harbours 5.1", "Harbours 5.0rc1", "Harbours 4.9.post1"), PageKind.CHANGES),
        (("1.1 Scope", "1.2 Terms", "1.3 Duties of the keeper"), PageKind.CONTENT),
        (("Step 1", "Step 2", "Step 3"), PageKind.CONTENT),
        (("Version 1.0", "Version 2.0"), PageKind.CONTENT),
        (("Version 1.0", "Scope", "Duties", "Version 2.0", "Fees", "Version 2.1"), PageKind.CONTENT),
        (("A", "B", "C"), PageKind.CONTENT),
    ],
)
def test_a_list_of_changes_has_versions_or_dates_as_headings(
    headings: tuple[str, ...], kind: PageKind
) -> None:
    found = outline(section("History", level=1), *(section(heading, PROSE) for heading in headings))
    assert page_kind(found, title="History", uri=URI) is kind


def test_changes_below_the_headings_of_versions_do_not_hide_them() -> None:
    below = [
        part
        for version in ("3.0", "2.1", "2.0")
        for part in (
            section(version, PROSE),
            section("Added", PROSE, level=3),
            section("Fixed", PROSE, level=3),
        )
    ]
    assert page_kind(outline(section("News", level=1), *below), title="News", uri=URI) is PageKind.CHANGES


@pytest.mark.parametrize(
    ("title", "text", "kind"),
    [
        ("Release 17.4", "Release date: 2025-02-20\n\n" + PROSE, PageKind.CHANGES),
        ("Release 17", "Release date: 2024-09-26\n\n" + PROSE, PageKind.CHANGES),
        ("Release 17.4", PROSE, PageKind.CONTENT),
        ("Harbour rules", "As of 2025-02-20: " + PROSE, PageKind.CONTENT),
    ],
)
def test_a_page_of_one_release_has_its_version_as_title_and_begins_with_its_date(
    title: str, text: str, kind: PageKind
) -> None:
    assert page_kind(outline(section(title, text, level=1)), title=title, uri=URI) is kind


def test_an_alphabetical_index_has_letters_for_headings_and_leads_elsewhere() -> None:
    entries = "berth, 3; basin, 4; buoy, 5 and 6; beacon, 7"
    letters = [section(letter, entries, linked=30) for letter in "ABC"]
    assert page_kind(outline(section("Register", level=1), *letters), title="", uri=URI) is PageKind.INDEX
    plain = [section(letter, entries) for letter in "ABC"]
    assert page_kind(outline(section("Register", level=1), *plain), title="", uri=URI) is PageKind.CONTENT


def test_a_listing_says_only_what_its_links_say_and_they_stay_on_the_site() -> None:
    found = outline(section("All modules", "harbours." * 30, level=1, linked=260))
    assert page_kind(found, title="", uri=URI, on_site=26) is PageKind.LISTING
    assert page_kind(found, title="", uri=URI, on_site=5) is PageKind.CONTENT
    half = outline(section("All modules", "harbours." * 30, level=1, linked=130))
    assert page_kind(half, title="", uri=URI, on_site=13) is PageKind.CONTENT


@pytest.mark.parametrize(
    ("title", "uri", "text", "kind"),
    [
        ("404 - no such berth", URI, "Go back to the start.", PageKind.NOT_FOUND),
        ("Kein Liegeplatz", "https://docs.example/de/404.html", "Zum Anfang", PageKind.NOT_FOUND),
        ("Status codes", URI, "404 is answered for a berth that nobody knows. " * 9, PageKind.CONTENT),
        ("Berth 4040", URI, "Dry.", PageKind.CONTENT),
    ],
)
def test_an_error_page_is_short_and_says_404(title: str, uri: str, text: str, kind: PageKind) -> None:
    assert page_kind(outline(section(title, text, level=1)), title=title, uri=uri) is kind


def test_a_search_has_a_form_and_little_else_to_say() -> None:
    short, long = outline(section("Search", "Type words.")), outline(section("Harbours", PROSE))
    assert page_kind(short, title="", uri=URI, has_search=True) is PageKind.SEARCH
    assert page_kind(short, title="", uri=URI) is PageKind.CONTENT
    assert page_kind(long, title="", uri=URI, has_search=True) is PageKind.CONTENT
    assert page_kind(long, title="", uri=URI, has_search=True, is_empty=True) is PageKind.SEARCH


def test_lists_of_the_same_words_differ_by_where_they_lead() -> None:
    """As the indexes of two versions of one manual do, which are no copies."""
    one, other = (
        parse_markdown(
            (
                "# Index\n\n"
                + "\n".join(
                    f"- [Entry {n} of the harbour keeper and his book](/{version}/p{n}.html)"
                    for n in range(30)
                )
            ).encode(),
            ParseRequest(uri=f"https://docs.example/{version}/genindex.html", source="s"),
            count_tokens=lambda text: len(text.split()),
        )
        for version in ("v1", "v2")
    )

    pages = [node for fragment in (one, other) for node in fragment.nodes if isinstance(node, Page)]
    assert [page.page_kind for page in pages] == [PageKind.LISTING] * 2
    assert one.content_hash != other.content_hash


def test_versions_without_end_are_no_list_of_changes() -> None:
    endless = [section("1" + ".1" * 8_000 + f".{n}") for n in range(4)]

    assert page_kind(outline(*endless), title="", uri=URI) is PageKind.CONTENT


def counted(before: str, behind: str) -> str:
    items = entries(f"<li>{before}<a href=p{{n}}.html>Rules of {{name}}</a>{behind}</li>")
    return f"<h1>Contents</h1><ul>{items}</ul>"


def entries(markup: str, number: int = 30) -> str:
    return "".join(markup.format(name=f"{'abc'[n % 3]}_berth{n}", n=n) for n in range(number))


SPHINX = (
    "<h1>Index</h1>" + "".join(f"<h2>{letter}</h2><table class='indextable'>{{}}</table>" for letter in "AB")
).replace("{}", entries("<tr><td><ul><li><a href='api.html#{name}'>{name}() (port method)</a>, [27]</ul>"))
SPLIT = f"<h1>Index &#8211; B</h1><table>{entries('<tr><td><a href=p{n}.html>{name}</a>')}</table>"
DOXYGEN = (
    "<p>Here is a list of all documented class members with links to the class documentation:</p>"
    "<h3>- a -</h3><ul>" + entries("<li>{name}() : <a href='class{n}.html'>Pier</a></li>") + "</ul>"
)
ANNOTATED = f"<h1>Class List</h1><table>{entries('<tr><td>C<td><a href=class{n}.html>{name}</a>')}</table>"
TAGS = f"<h1>Tags</h1><h2>moorings</h2><ul>{entries('<li><a href=p{n}.html>Rules of {name}</a>')}</ul>"
ARCHIVE = f"<h1>Archive</h1><ul>{entries('<li>March 3, 2024 <a href=p{n}.html>The news of {name}</a>')}</ul>"
SITEMAP = f"<h1>Sitemap</h1><ul><li>Port<ul>{entries('<li><a href=p{n}.html>All of {name}</a>')}</ul></ul>"
JAVADOC = (
    "<meta name='generator' content='javadoc/SplitIndexWriter'><h2>B</h2><dl>"
    + entries(
        "<dt><a href=c{n}.html>{name}</a> - Class in port</dt><dd>Says who lies at this berth, and when.</dd>"
    )
    + "</dl>"
)
GLOSSARY = "<h1>Glossary</h1>" + "".join(
    f"<h2>{letter}</h2><dl>"
    + entries(
        "<dt><a href='p{n}.html'>{name}</a></dt><dd>What is let to a boat for a year by the keeper.</dd>"
    )
    + "</dl>"
    for letter in "AB"
)
CONTENTS = (
    "<h1>Handbook</h1><p>This handbook tells keepers of harbours what they owe to boats.</p><ul>"
    + entries("<li><a href='p{n}.html'>Chapter {n}: {name}</a>")
    + "</ul>"
)
SUMMARY = f"<h1>API</h1><table>{entries('<tr><td><a href=p{n}.html>{name}</a><td>integer<td>{n}')}</table>"
CODES = f"<h1>Errors</h1><table>{entries('<tr><td><a href=e{n}.html>ERR_BAD_THING_{n}</a><td>4{n}')}</table>"
PORTS = f"<h1>Ports</h1><ul>{entries('<li><a href=p{n}.html>Port of {name} in the north sea</a> 10{n}')}</ul>"
LANDING = "<h1>Port</h1><form role=search><input name=q></form><p>Rules of all. <a href=s.html>Start</a>"


@pytest.mark.parametrize(
    ("path", "markup"),
    [
        ("genindex.html", SPHINX),
        ("genindex-B.html", SPLIT),
        ("functions_b.html", DOXYGEN),
        ("annotated.html", ANNOTATED),
        ("tags/", TAGS),
        ("archive.html", ARCHIVE),
        ("sitemap.html", SITEMAP),
        ("counts.html", counted("", " ({n})")),
        ("dates.html", counted("", " 03/04/2024")),
        ("chapters.html", counted("1.{n} ", "")),
        ("index-files/index-2.html", JAVADOC),
        ("search.html", "<h1>Search</h1><form role=search><input name=q></form><p>Type words."),
    ],
)
def test_an_index_gives_its_links_and_no_passages_and_says_so(path: str, markup: str) -> None:
    fragment = parse_page(path, markup)
    assert not fragment.chunks
    assert fragment.text  # what judges pages by their words still can
    assert any("gives no passages" in warning for warning in fragment.warnings)
    assert len(fragment.links) >= (0 if path == "search.html" else 30)


NAMED = entries("<li><a href=s{n}.html>{name}</a>")
SHORT = f"<ul>{NAMED}</ul><h1>Ship</h1><p>It carries 91 crates of lamps."


@pytest.mark.parametrize("markup", [GLOSSARY, CONTENTS, SUMMARY, CODES, PORTS, LANDING, SHORT])
def test_a_page_that_says_something_itself_keeps_all_of_its_words(markup: str) -> None:
    fragment = parse_page("page.html", markup)
    said = " ".join(chunk.text for chunk in fragment.chunks)
    assert all(
        section.text in said or len(said) > 1000 for section in fragment.nodes if isinstance(section, Section)
    )
    assert fragment.chunks
    assert not fragment.warnings


def test_an_index_of_more_links_than_any_page_has_is_known_for_one() -> None:
    markup = "<h1>Index</h1>" + "".join(
        f"<h2>{letter}</h2><ul>{entries(f'<li><a href={letter}{{n}}.html>{{name}}</a>', 1500)}</ul>"
        for letter in "AB"
    )
    fragment = parse_page("genindex.html", markup)
    assert (len(fragment.chunks), len(fragment.links)) == (0, 3000)


def parse_page(path: str, markup: str) -> GraphFragment:
    return parse_html(
        f"<!DOCTYPE html><title>Port</title><body><main>{markup}</main>".encode(),
        ParseRequest(uri=f"https://docs.example/{path}", source="s"),
        count_tokens=lambda text: len(text.split()),
    )
