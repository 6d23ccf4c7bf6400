"""Slugs: safe as file names everywhere, and their own for every title."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.wiki.page import LENGTH_MAX, check_page_name, is_safe, marked_slug, slug_of
from schemas.errors import ConfigError


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Why does a memory leak crash the system?", "why-does-a-memory-leak-crash-the-system"),
        ("max_wal_size & Co.", "max-wal-size-co"),
        ("Crème brûlée", "creme-brulee"),
        ("../../etc/passwd", "etc-passwd"),
    ],
)
def test_a_slug_is_the_words_of_the_title(title: str, slug: str) -> None:
    assert slug_of(title) == slug


@given(st.text())
@settings(max_examples=100, deadline=None)
def test_every_title_whatever_its_signs_has_a_safe_slug(title: str) -> None:
    assert is_safe(slug_of(title))
    assert is_safe(marked_slug(slug_of(title), title))


@pytest.mark.parametrize("title", ["", "...", "日本語", "CON", "nul", "com1", "x" * 500])
def test_what_a_plain_slug_cannot_say_gets_a_mark_that_follows_from_the_title(title: str) -> None:
    slug = slug_of(title)
    assert slug == slug_of(title)
    assert len(slug) <= LENGTH_MAX
    assert slug != slug_of(f"{title} ")[:-1]


def test_titles_in_other_scripts_have_slugs_of_their_own() -> None:
    assert len({slug_of(title) for title in ("日本", "中国", "日本語", "Köln 日本")}) == 4


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", "a\\b", "/etc", "CON", "con", "lpt9", "a--b", "-a", "A", "a b", "ä"],
)
def test_a_name_that_is_unsafe_is_never_taken(name: str) -> None:
    with pytest.raises(ConfigError, match="lower-case letters"):
        check_page_name(name, what="slug")
