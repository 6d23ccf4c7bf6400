"""Other forms of one document: what is one, by address and by content."""

from dataclasses import replace
from typing import Any

import pytest

from ingest.diff.address_forms import plain_forms
from ingest.diff.alternate_forms import Shingles, find_alternate_forms, shingles_of
from schemas.documents import DocumentState as S
from schemas.documents import KnownDocument
from tests.fakes.known import SITE, known


def words(name: str, number: int) -> str:
    return " ".join(f"{name}{nth}" for nth in range(number))


def page(name: str, text: str, **fields: Any) -> KnownDocument:
    """A parsed page; its title holds its text."""
    plain = {"state": S.FETCHED, "raw_sha": name, "parsed_sha": name, "doc": f"page:{name}", "title": text}
    return known(f"{SITE}{name}", **{**plain, "content_hash": name, "words": len(text.split()), **fields})


def text_of(document: KnownDocument) -> Shingles:
    return shingles_of([document.title])


def twins(*rows: KnownDocument) -> dict[str, str]:
    found = find_alternate_forms(rows, shingles=text_of)
    return {uri.removeprefix(SITE): twin.original.removeprefix(SITE) for uri, twin in found.items()}


TEXT = words("word", 200)


@pytest.mark.parametrize(
    ("uri", "forms"),
    [
        ("http://a.test/p?print=1", ("http://a.test/p",)),
        ("http://a.test/p?id=7&view=print", ("http://a.test/p?id=7",)),
        ("http://a.test/print/p.html", ("http://a.test/p.html", "http://a.test/p.html/")),
        ("http://a.test/p/print", ("http://a.test/p", "http://a.test/p/")),
        ("http://a.test/p-print.html", ("http://a.test/p.html", "http://a.test/p.html/")),
        ("http://a.test/p.printable.html", ("http://a.test/p.html", "http://a.test/p.html/")),
        ("http://print.test/blueprint.html", ()),
        ("http://a.test/p?printer=laser&id=7", ("http://a.test/p?id=7",)),
        ("http://a.test/fingerprint", ()),
    ],
)
def test_a_printable_page_is_told_by_its_address(uri: str, forms: tuple[str, ...]) -> None:
    assert plain_forms(uri) == forms


def test_a_printable_page_that_says_the_same_is_a_twin_and_another_is_not() -> None:
    same = page("p?print=1", f"{TEXT} printed")
    assert twins(page("p", TEXT), same) == {"p?print=1": "p"}
    assert twins(page("p", words("other", 200)), same) == {}
    assert twins(same) == {}


def test_a_page_that_names_another_as_canonical_is_one_with_it_only_if_it_says_the_same() -> None:
    old = page("1.0/p", f"{TEXT} of one", canonical=f"{SITE}stable/p")
    assert twins(old, page("stable/p", TEXT)) == {"1.0/p": "stable/p"}
    german = page("de/p", words("wort", 200), canonical=f"{SITE}p")
    assert twins(german, page("p", TEXT)) == {}
    assert twins(old, page("stable/p", f"{TEXT} {words('more', 60)}")) == {}


def test_pages_that_name_each_other_leave_one_of_them() -> None:
    a, b = page("a", f"{TEXT} a", canonical=f"{SITE}bb"), page("bb", TEXT, canonical=f"{SITE}a")
    assert twins(a, b) == {"bb": "a"}
    third = page("c?print=1", f"{TEXT} c", canonical=f"{SITE}bb")
    assert twins(a, b, third) == {"bb": "a", "c?print=1": "a"}


def test_versions_that_say_nearly_the_same_are_one_document_under_the_settled_name() -> None:
    rows = [
        page(f"docs/{name}/p", f"{TEXT} as of {name}") for name in ("1.9", "1.10", "latest", "dev", "2.0rc1")
    ]
    assert twins(*rows) == {f"docs/{name}/p": "docs/latest/p" for name in ("1.9", "1.10", "dev", "2.0rc1")}
    assert twins(*rows[:2], *rows[3:]) == {
        f"docs/{name}/p": "docs/1.10/p" for name in ("1.9", "dev", "2.0rc1")
    }
    plain = page("docs/p", f"{TEXT} as of plain")
    assert twins(plain, *rows) == {f"docs/{row.title.split()[-1]}/p": "docs/p" for row in rows}


def test_versions_that_say_something_else_stay_documents() -> None:
    latest, old = page("latest/p", f"{TEXT} of latest"), page("1.0/p", f"{TEXT} {words('more', 20)}")
    assert twins(latest, old) == {}
    between = page("1.1/p", f"{TEXT} {words('more', 15)}")
    assert twins(page("latest/p", TEXT), between, old) == {"1.0/p": "1.1/p"}


def test_many_small_steps_from_version_to_version_make_another_document() -> None:
    steps = [
        page(f"{step}.0/p", words("old", 10 * (20 - step)) + " " + words("new", 1000)) for step in range(20)
    ]
    found = twins(*steps)
    assert found["18.0/p"] == "19.0/p"
    assert 1 < len(steps) - len(found) < 20
    assert set(found.values()).isdisjoint(found)


def test_a_version_that_pages_name_as_canonical_comes_before_the_settled_one() -> None:
    old = page("1.0/p", f"{TEXT} of 1.0", canonical=f"{SITE}latest/p")
    assert twins(old, page("latest/p", TEXT), page("stable/p", f"{TEXT} stable")) == {
        "1.0/p": "latest/p",
        "stable/p": "latest/p",
    }


@pytest.mark.parametrize(
    ("long", "short"),
    [
        (page("v1.2/p", f"{TEXT} one"), page("1.2/p", f"{TEXT} two")),  # two addresses of one version
        (
            page("guide/p", f"{TEXT} one", canonical=f"{SITE}p"),
            page("p", f"{TEXT} two", canonical=f"{SITE}guide/p"),
        ),  # they name each other
    ],
)
def test_what_readers_see_stays_where_nothing_tells_which_form_is_the_other(
    long: KnownDocument, short: KnownDocument
) -> None:
    for seen, stays in (((), short), ([long.uri], long), ([long.uri, short.uri], short)):
        found = find_alternate_forms([long, short], shingles=text_of, seen=seen)
        assert [twin.original for twin in found.values()] == [stays.uri]


def test_numbers_of_items_are_no_versions_unless_versions_stand_beside_them() -> None:
    one, two = page("item/101/", f"{TEXT} one"), page("item/102/", f"{TEXT} two")
    assert twins(one, two) == {}
    news = [page(f"{year}/p", f"{TEXT} in {year}") for year in (2023, 2024)]
    assert twins(*news) == {}
    manuals = [page(f"docs/{version}/p", f"{TEXT} of {version}") for version in ("9.6", "15", "17")]
    assert twins(*manuals) == {"docs/9.6/p": "docs/17/p", "docs/15/p": "docs/17/p"}


PARTS = [page(f"html/p{n}.html", words(f"part{n}x", 400)) for n in range(5)]
START = page("html/index.html", words("start", 60))
WHOLE = " ".join([START.title, *(part.title for part in PARTS)])


@pytest.mark.parametrize("name", ["whole.html", "html/all.html", "single/index.html"])
def test_all_pages_in_one_lose_to_the_pages(name: str) -> None:
    assert twins(page(name, WHOLE), START, *PARTS) == {name: "html/index.html"}


def test_a_long_page_that_says_more_than_the_pages_stays() -> None:
    more = page("whole.html", f"{' '.join(p.title for p in PARTS[:3])} {words('new', 900)}")
    assert twins(more, START, *PARTS) == {}
    assert twins(page("far/away/whole.html", WHOLE), START, *PARTS) == {}


def test_a_single_page_version_stands_for_no_pages_of_another_version() -> None:
    parts = [page(part.uri.removeprefix(SITE).replace("html/", "1.0/", 1), part.title) for part in PARTS]
    assert twins(page("1.0/all.html", WHOLE), *parts) != {}
    assert twins(page("2.0/all.html", WHOLE), *parts) == {}


def test_a_form_waits_while_its_document_could_not_be_confirmed() -> None:
    down = page("p", TEXT, state=S.FAILED)
    printed = page("p?print=1", f"{TEXT} printed")
    assert twins(down, printed) == {}
    found = find_alternate_forms([down, printed], shingles=text_of, held=[down.uri])
    assert {uri: twin.original for uri, twin in found.items()} == {printed.uri: down.uri}


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("p.md", "p"),
        ("p.md", "p/"),
        ("p.mdx", "p.html"),
        ("p.html.md", "p.html"),
        ("p/index.md", "p/"),
        ("p/index.html.md", "p/"),
    ],
)
@pytest.mark.parametrize(
    ("text", "is_form"),
    [(f"Find all pages in llms.txt. {TEXT} Mind the gap.", True), (words("other", 200), False)],
)
def test_markdown_beside_a_page_is_a_form_of_it_if_it_says_the_same(
    name: str, of: str, text: str, is_form: bool
) -> None:
    rows = page(of, TEXT, content_type="text/html"), page(name, text, content_type="text/markdown")
    assert twins(*rows) == ({name: of} if is_form else {})


def test_markdown_elsewhere_is_a_form_of_the_page_that_its_header_names() -> None:
    rows = (
        page("p", TEXT, content_type="text/html"),
        page("raw/7", f"Notes. {TEXT}", content_type="text/markdown"),
    )
    assert twins(*rows) == {}
    assert twins(rows[0], replace(rows[1], canonical=f"{SITE}p")) == {"raw/7": "p"}


@pytest.mark.parametrize("other", ["p/", "p/index.html", "p/index.php"])
@pytest.mark.parametrize("number", [5, 200])
def test_equal_bytes_under_names_of_one_file_are_one_document(other: str, number: int) -> None:
    rows = (
        page("p", words("w", number), parsed_sha="1", raw_sha="1"),
        page(other, words("w", number), parsed_sha="1", raw_sha="1"),
    )
    assert twins(*rows) == {other: "p"}
    assert twins(rows[0], page(other, words("v", number))) == {}
