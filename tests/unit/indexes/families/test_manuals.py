"""Documents joined with their other versions."""

import pytest

from indexes.families import Manual, join_editions
from schemas.families import Edition, SourceFamily, VersionFamily, joining_key, one_of_each, version_of

BY_URL = SourceFamily(source="docs", family="git", url="/docs/([^/]+)/")


def edition(
    doc: str, version: str, url: str | None, *, source: str = "docs", path: str | None = None
) -> Edition:
    return Edition(doc, source, version, url, path)


def manual() -> Manual:
    found = [
        edition("a", "2.30", "https://x.org/docs/2.30/push.html"),
        edition("b", "2.47", "https://x.org/docs/2.47/push.html"),
        edition("c", "2.30", "https://x.org/docs/2.30/archimport.html"),
        edition("d", "devel", "https://x.org/docs/devel/push.html"),
    ]
    (joined,) = join_editions([BY_URL], found)
    return joined


def test_pages_at_one_address_but_for_the_version_are_joined_the_newest_first() -> None:
    assert manual().versions == ("2.47", "2.30", "devel")
    assert [one.doc for one in manual().editions[manual().keys["a"]]] == ["b", "a", "d"]
    assert [one.doc for one in manual().others("d")] == ["b", "a"]
    assert manual().others("c") == ()
    assert manual().others("of another manual") == ()


def test_the_newest_of_each_page_is_that_of_the_newest_version_that_has_it() -> None:
    assert {one.doc for one in manual().newest()} == {"b", "c"}
    assert {one.doc for one in manual().newest({"a", "d"})} == {"a"}


def test_two_pages_of_one_version_at_one_key_are_both_shown() -> None:
    found = [edition(doc, "1", "https://x.org/docs/1/a", source="docs") for doc in ("p", "q")]
    (joined,) = join_editions([BY_URL], found)
    assert {one.doc for one in joined.newest()} == {"p", "q"}


def test_sources_that_are_one_version_each_are_joined_by_what_follows_their_folders() -> None:
    sources = [
        SourceFamily(source=f"pg{n}", family="postgresql", bases=(f"https://x.org/docs/{n}/",))
        for n in (15, 17)
    ]
    found = [
        edition("a", "15", "https://x.org/docs/15/sql/select.html", source="pg15"),
        edition("b", "17", "https://x.org/docs/17/sql/select.html", source="pg17"),
    ]
    (joined,) = join_editions(sources, found)
    assert joined.keys == {"a": "sql/select.html", "b": "sql/select.html"}
    assert joined.sources == ("pg15", "pg17")


@pytest.mark.parametrize(
    ("url", "path", "key"),
    [
        ("https://a.org/x/y.html", None, "y.html"),  # under the base
        ("https://b.org/x/y.html", None, "x/y.html"),  # elsewhere: the host does not count
        ("https://a.org/blob/main/y.md", "docs/y.md", "docs/y.md"),  # a file is named by its path
        (None, "y.md", "y.md"),
    ],
)
def test_a_document_is_named_below_the_folder_that_its_source_starts_in(
    url: str | None, path: str | None, key: str
) -> None:
    of = SourceFamily(source="docs", family="m", bases=("https://a.org/", "https://a.org/x/"))
    assert joining_key(of, edition("a", "1", url, path=path)) == key


def test_families_do_not_mix() -> None:
    sources = [SourceFamily(source=name, family=name) for name in ("git", "pg")]
    found = [edition(name, "1", "https://x.org/a", source=name) for name in ("git", "pg")]
    assert [one.name for one in join_editions(sources, found)] == ["git", "pg"]
    assert all(not one.others(doc) for one in join_editions(sources, found) for doc in one.keys)


@pytest.mark.parametrize(
    ("family", "address", "version"),
    [
        (VersionFamily(name="m", version="15"), "https://x.org/anything", "15"),
        (VersionFamily(name="m", url="/docs/([^/]+)/"), "https://x.org/docs/2.47/a", "2.47"),
        (VersionFamily(name="m", url="/docs/([^/]+)/"), "https://x.org/about", None),
        (
            VersionFamily(name="m", url="/docs/(.*)$"),
            "https://x.org/docs/",
            None,
        ),  # an empty group says nothing
        (VersionFamily(name="m", title="x (.*)"), "https://x.org/docs/2.47/a", None),  # the page says it
    ],
)
def test_the_version_of_an_address(family: VersionFamily, address: str, version: str | None) -> None:
    assert version_of(family, address) == version


def test_a_book_whose_chapters_have_addresses_of_their_own_is_one_edition() -> None:
    chapters = [
        edition("a", "1", "https://x.org/b"),
        edition("a", "1", None),
        edition("a", "1", "https://x.org/a"),
    ]
    assert one_of_each(chapters) == one_of_each(reversed(chapters)) == (edition("a", "1", None),)
