"""X-Robots-Tag, line by line and robot by robot."""

import pytest

from ingest.parse.access import RobotsDirectives, read_directives

INDEX, FOLLOW = RobotsDirectives(noindex=True), RobotsDirectives(nofollow=True)
NONE, ALL = RobotsDirectives(noindex=True, nofollow=True), RobotsDirectives()


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, ALL),
        ("", ALL),
        ("noindex", INDEX),
        ("NoIndex, NoFollow", NONE),
        ("none", NONE),
        ("all", ALL),
        ("sitegraph: noindex", INDEX),
        ("SiteGraph : noindex, nofollow", NONE),
        ("otherbot: noindex, nofollow", ALL),
        ("otherbot: noindex, sitegraph: nofollow", FOLLOW),
        ("otherbot: noindex\nnofollow", FOLLOW),
        ("*: none", NONE),
        ("max-snippet: 20, nofollow", FOLLOW),
        ("unavailable_after: 25 Jun 2010 15:00:00 PST, noindex", INDEX),
    ],
)
def test_a_header_speaks_to_all_robots_or_to_the_one_it_names(
    header: str | None, expected: RobotsDirectives
) -> None:
    assert read_directives(header, robot="sitegraph") == expected


def test_what_head_and_header_say_adds_up() -> None:
    assert read_directives("nofollow", ["index", "noindex"], robot="sitegraph") == NONE
