"""What belongs to a source, by docs/reference/source-file.md."""

from typing import Any

import pytest

from ingest.plan.scope import scope_refusal, scope_subject, seed_urls
from schemas.source import Scope
from tests.fakes.known import SITE, file_source, web_source

OUTSIDE, EXCLUDED = "outside the source's scope", "excluded by scope.exclude"


@pytest.mark.parametrize(
    ("scope", "uri", "refusal"),
    [
        ({}, SITE, None),
        ({}, SITE + "leave.html", None),
        ({}, SITE + "a/b/c?d=e", None),
        ({}, "https://docs.example.org/", OUTSIDE),
        ({}, "https://docs.example.org/handbook2/", OUTSIDE),
        ({}, "http://docs.example.org/handbook/leave.html", OUTSIDE),
        ({}, "https://docs.example.org.evil.test/handbook/", OUTSIDE),
        ({"include": ("https://docs.example.org/*",)}, "https://docs.example.org/blog/1", None),
        ({"include": ("https://docs.example.org/blog/*",)}, SITE + "leave.html", OUTSIDE),
        ({"include": ("https://docs.example.org/blog/*",)}, SITE, None),  # a seed always belongs
        ({"exclude": ("*/print/*",)}, SITE + "print/leave.html", EXCLUDED),
        ({"exclude": ("*/print/*",)}, SITE + "a/b/print/c/d.html", EXCLUDED),  # * crosses slashes
        ({"exclude": ("*/print/*",)}, SITE + "PRINT/leave.html", None),  # case counts
        ({"exclude": ("*",)}, SITE, None),
        ({"include": ("*/leave.*",), "exclude": ("*.pdf",)}, SITE + "leave.pdf", EXCLUDED),
        ({"include": (SITE + "v?/*",)}, SITE + "v1/a", None),
        ({"include": (SITE + "v?/*",)}, SITE + "v10/a", OUTSIDE),
        ({"include": (SITE + "v[12]/*",)}, SITE + "v2/a", None),
        ({"include": (SITE + "v[12]/*",)}, SITE + "v3/a", OUTSIDE),
    ],
)
def test_scope_decides_by_globs_over_the_whole_address(
    scope: dict[str, Any], uri: str, refusal: str | None
) -> None:
    assert scope_refusal(uri, web_source(scope=Scope(**scope))) == refusal


@pytest.mark.parametrize(("depth", "refused"), [(0, False), (2, False), (3, True)])
def test_depth_counts_links_from_a_seed(depth: int, refused: bool) -> None:
    source = web_source(scope=Scope(max_depth=2))
    assert (scope_refusal(SITE + "a", source, depth=depth) == "deeper than max_depth 2") is refused
    assert scope_refusal(SITE, source, depth=99) is None


def test_a_seed_is_the_same_however_it_is_written() -> None:
    source = web_source(seeds=("HTTPS://Docs.Example.org:443/handbook/#top",))
    assert seed_urls(source) == (SITE,)
    assert scope_refusal(SITE + "leave.html", source) is None


def test_the_folder_of_a_seed_file_is_its_scope() -> None:
    source = web_source(seeds=(SITE + "index.html",))
    assert scope_refusal(SITE + "leave.html", source) is None


@pytest.mark.parametrize(
    ("scope", "path", "refusal"),
    [
        ({}, "a/b.md", None),
        ({"include": ("*.md",)}, "a/b.md", None),
        ({"include": ("*.md",)}, "a/b.html", OUTSIDE),
        ({"exclude": ("drafts/*",)}, "drafts/b.md", EXCLUDED),
        ({"exclude": ("drafts/*",)}, "a/drafts/b.md", None),
    ],
)
def test_globs_of_a_folder_match_the_path_under_its_root(
    scope: dict[str, Any], path: str, refusal: str | None
) -> None:
    assert scope_refusal(f"files://notes/{path}", file_source(scope=Scope(**scope))) == refusal


def test_globs_see_a_file_name_as_it_is_on_disk() -> None:
    assert scope_subject("files://notes/caf%C3%A9%20plan.md") == "café plan.md"
