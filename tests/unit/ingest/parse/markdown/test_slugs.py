import pytest

from ingest.parse.markdown.page import Slugs, split_explicit_id


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("Getting Started", "getting-started"),
        ("What's new in 2.0?", "whats-new-in-20"),
        ("`os.path` & co", "ospath--co"),
        ("Größe_2", "größe_2"),
        ("???", None),
    ],
)
def test_a_heading_gets_the_fragment_that_its_host_gives(heading: str, slug: str | None) -> None:
    assert Slugs().of(heading) == slug


def test_repeated_headings_are_numbered_and_never_collide() -> None:
    slugs = Slugs()
    assert [slugs.of(heading) for heading in ("Notes", "Notes", "Notes-1", "Notes")] == [
        "notes",
        "notes-1",
        "notes-1-1",
        "notes-2",
    ]


def test_an_explicit_id_wins() -> None:
    assert split_explicit_id("Set up {#install .big}") == ("Set up", "install")
    assert split_explicit_id("Set {x}") == ("Set {x}", None)
    assert Slugs().of("Set up", "install") == "install"
