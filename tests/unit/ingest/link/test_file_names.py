"""Links that give a local file another name than it has."""

import pytest

from ingest.link.links import other_names

ROOT = "files://notes/"


@pytest.mark.parametrize(
    ("link", "file"),
    [
        ("guide.htm", "guide.html"),
        ("guide.html", "guide.htm"),
        ("guide", "guide.html"),
        ("guide", "guide.md"),
        ("guide.html", "guide.md"),
        ("guide", "guide/index.html"),
        ("guide/", "guide/index.htm"),
        ("guide/", "guide/README.md"),
        ("guide/", "guide.html"),
        ("", "index.html"),
        ("1.2", "1.2.html"),
        ("law/tokens%20of%20old", "law/tokens%20of%20old.rst"),
    ],
)
def test_a_file_is_found_under_another_name_and_the_other_way_round(link: str, file: str) -> None:
    assert ROOT + file in other_names(ROOT + link)
    assert ROOT + link in other_names(ROOT + file)


def test_the_name_beside_comes_before_that_inside_a_folder() -> None:
    names = other_names(f"{ROOT}guide.htm")
    assert names.index(f"{ROOT}guide.html") < names.index(f"{ROOT}guide/index.html")


@pytest.mark.parametrize("link", ["guide.pdf", "guide.tar.gz", ".hidden.toml"])
def test_what_says_that_it_is_something_else_has_no_other_name(link: str) -> None:
    assert other_names(ROOT + link) == ()


def test_addresses_of_the_web_are_asked_for_and_never_guessed() -> None:
    assert other_names("https://docs.example/guide") == ()


@pytest.mark.parametrize(
    ("link", "nearer", "farther"),
    [
        ("a/index.html", "a/index.rst", "a.rst"),
        ("a/README.html", "a/README.md", "a/index.md"),
    ],
)
def test_the_same_name_with_another_suffix_comes_first(link: str, nearer: str, farther: str) -> None:
    names = other_names(ROOT + link)
    assert names.index(ROOT + nearer) < names.index(ROOT + farther)
