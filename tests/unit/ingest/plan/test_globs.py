"""A glob that nothing can match is a mistake; one that something can is never called one."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.plan.scope import foreign_refusal, glob_refusal, sole_match
from ingest.urls import canonical_url
from sitegraph.actions.traps import escaped

WEB, FILES = False, True
ENDINGS = (".md", ".html", ".pdf")


@pytest.mark.parametrize(
    ("glob", "hint"),
    [
        ("docs.example.org/*", "write *docs.example.org/*"),
        ("/docs/*", "write */docs/*"),
        ("HTTPS://docs.example.org/*", "begin with http:// or https://"),
        ("https://Docs.Example.org/*", "write https://docs.example.org/*"),
        ("https://docs.example.org:443/guide/*", "write https://docs.example.org/guide/*"),
        ("https://docs.example.org", "write https://docs.example.org/"),
        ("https://docs.example.org/a/../b.html", "write https://docs.example.org/b.html"),
        ("https://docs.example.org/*#part", "'#'"),
        ("https://docs.example.org/über/*", "'ü'"),
        ("https:///docs/*", "no host"),
        ("http://[::1]:8000/*", "write http://[[]::1]:8000/*"),
        ("", "is empty"),
    ],
)
def test_a_glob_that_no_address_can_match_is_told_how_to_be_written(glob: str, hint: str) -> None:
    assert hint in (glob_refusal(glob, by_path=WEB) or "")


@pytest.mark.parametrize(
    "glob",
    [
        "*",
        "*/print/*",
        "*.pdf",
        "?ttps://docs.example.org/*",
        "http*://docs.example.org/*",
        "https://*.example.org/*",
        "https://docs.example.org*",
        "https://docs.example.org/guide/*",
        "https://docs.example.org/index.php?title=*",
        "https://docs.example.org/[ab]/*",
        "https://docs.example.org:8443/*",
        "http://[[]::1]:8000/*",
        "https://docs.example.org/guide/%C3%BC*",
        "https://docs.example.org/start.html",
    ],
)
def test_a_glob_that_some_address_can_match_is_let_be(glob: str) -> None:
    assert glob_refusal(glob, by_path=WEB) is None


@pytest.mark.parametrize(
    "glob", ["/guide/*", "./guide/*", "../guide/*", "guide/", "*.docx", "guide/*.DOCX", "README"]
)
def test_a_glob_that_no_file_can_match_is_refused(glob: str) -> None:
    assert glob_refusal(glob, by_path=FILES, endings=ENDINGS)


@pytest.mark.parametrize(
    ("glob", "hint"),
    [
        ("**/hr/*", "write hr/* and */hr/*"),
        ("hr/**/*.md", "write hr/*.md and hr/*/*.md"),
        ("{hr,legal}/*", "write hr/* and legal/*"),
        ("hr/*.{md,rst}", "write hr/*.md and hr/*.rst"),
        ("hr/**", None),
        ("{id}/*", None),
    ],
)
def test_a_glob_in_the_signs_of_other_programs_is_refused_with_what_means_it(
    glob: str, hint: str | None
) -> None:
    refusal = foreign_refusal(glob)
    assert (refusal is None) if hint is None else (hint in (refusal or ""))


@pytest.mark.parametrize(
    "glob", ["guide/*", "*.md", "*.MD", "*d", "guide/[a-c]*", "*guide*", "guide/a.html", "*.h?ml"]
)
def test_a_glob_that_some_file_can_match_is_let_be(glob: str) -> None:
    assert glob_refusal(glob, by_path=FILES, endings=ENDINGS) is None


@given(
    host=st.from_regex(r"[a-zA-Z][a-zA-Z0-9-]{0,8}\.(org|com)", fullmatch=True),
    path=st.text(alphabet="abAB/.-_~%20?=&é ", max_size=12),
    cut=st.integers(0, 30),
)
def test_the_beginning_of_a_canonical_address_with_a_star_is_never_refused(
    host: str, path: str, cut: int
) -> None:
    url = canonical_url(f"https://{host}/{path}")
    if url is None or cut >= len(url):
        return
    glob = f"{url[:cut]}*"
    if fnmatchcase(url, glob):
        assert glob_refusal(glob, by_path=WEB) is None


@pytest.mark.parametrize("glob", ["*.md", "a?.md", "[ab].md", "a[[]*", "[", "[!*]"])
def test_a_glob_that_may_match_more_than_one_text_has_no_sole_match(glob: str) -> None:
    assert sole_match(glob) is None


@given(st.text(alphabet="ab[]*?!/.", max_size=12))
def test_the_sole_match_of_what_is_escaped_is_the_text_itself(text: str) -> None:
    glob = escaped(text)

    assert sole_match(glob) == text
    assert fnmatchcase(text, glob)
