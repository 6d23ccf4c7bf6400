"""Which parts of a site are proposed to be left out: versions, translations, forms of the same pages."""

from collections.abc import Sequence

import pytest

from ingest.plan.scope import glob_refusal
from sitegraph.actions.traps import escaped, find_traps, is_excluded

PREFIX = "https://docs.example.org/guide/"


def left_out(*paths: str, lang: str | None = None) -> list[str]:
    """The globs, without what they share."""
    found = find_traps([PREFIX + path for path in paths], prefix=PREFIX, lang=lang)
    assert [one for one in found if glob_refusal(one.glob, by_path=False)] == []
    return [one.glob.removeprefix(PREFIX) for one in found]


@pytest.mark.parametrize(
    ("paths", "globs"),
    [
        (("", "a/b.html", "1.0/a/b.html", "next/a/b.html"), ["1.0/*", "next/*"]),
        (("stable/a.html", "1.0/a.html", "latest/"), ["1.0/*", "latest/*"]),
        (("16/a.html", "17/a.html", "current/a.html", "17/index.html"), ["16/*", "17/*"]),
        (("release-2.0/a", "release-2.1/a", "3.0rc1/a"), ["3.0rc1/*", "release-2.0/*"]),
        (("v1.2-beta/a", "v1.1/a", "1.2/a"), ["v1.1/*", "v1.2-beta/*"]),
        (
            ("stable/a", "edge/a", "trunk/a", "head/a", "develop/a", "preview/a", "HEAD/a"),
            ["HEAD/*", "develop/*", "edge/*", "head/*", "preview/*", "trunk/*"],
        ),
        (("v1/", "v2/index.html"), ["v1/*"]),
        (("en/1.0/a", "en/2.0/a", "en/2.0/b"), ["en/1.0/*"]),
    ],
)
def test_other_versions_of_the_same_pages_are_left_out(paths: Sequence[str], globs: list[str]) -> None:
    assert left_out(*paths) == globs


@pytest.mark.parametrize(
    "paths",
    [
        ("page/1/", "page/2/", "page/3/"),
        ("2023/one.html", "2024/one.html"),
        ("1/index.html", "2/index.html"),
        ("1/start.html", "1/end.html", "2/start.html", "2/end.html", "3/start.html", "4/start.html"),
        ("2.0/a.html", "b.html"),
        ("it/a.html", "no/b.html", "id/c.html"),
    ],
)
def test_numbers_years_and_words_that_look_like_languages_stay(paths: Sequence[str]) -> None:
    assert left_out(*paths) == []


def test_translations_are_left_out_but_that_of_the_start_page() -> None:
    paths = ("en/a/", "de/a/", "fr/", "pt-br/a/")

    assert left_out(*paths) == ["de/*", "fr/*", "pt-br/*"]
    assert left_out(*paths, lang="de-DE") == ["en/*", "fr/*", "pt-br/*"]
    assert left_out("a/", "de/a/") == ["de/*"]


def test_forms_of_pages_are_left_out_where_the_site_has_them() -> None:
    assert left_out("a.html", "search.html", "a.html?print=1", "?C=N;O=D") == [
        "*/search.html",
        "*[?&]print*=*",
        "*[?]C=?;O=?",
    ]
    assert left_out("research.html", "print/paper.html", "search/operators.html") == []


def test_a_glob_leaves_out_what_it_is_for_and_nothing_else() -> None:
    found = find_traps([f"{PREFIX}{path}" for path in ("1.0/a", "2.0/a")], prefix=PREFIX)

    assert is_excluded(f"{PREFIX}1.0/b", found)
    assert not is_excluded(f"{PREFIX}2.0/b", found)
    assert not is_excluded(f"{PREFIX}1x0/b", find_traps([], prefix=PREFIX))
    assert escaped("a[1]*?") == "a[[]1][*][?]"
