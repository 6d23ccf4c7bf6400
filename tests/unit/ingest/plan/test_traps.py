"""What gives an endless address away."""

from collections.abc import Callable, Collection, Mapping

import pytest

from ingest.plan.scope import Variant, path_refusal, redirect_rings, spread_variants, variants_refusal

SITE = "https://docs.example.org"
EQUAL = "10 query variants in a row with equal content"
IDLE = "session id without which the page is the same"


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        ("/", None),
        ("/a/b/c.html?d=/e/e/e/e/e/e", None),
        ("/a/b/a/b/a/b", None),
        ("/a/b/a/b/a/b/a", "a path segment more than 3 times"),
        ("/a////b", None),
        ("/a/////b", "a path segment more than 3 times"),
        ("/" + "/".join(map(str, range(20))) + "/", None),
        ("/" + "/".join(map(str, range(21))), "more than 20 path segments"),
    ],
)
def test_a_path_of_too_many_or_too_equal_segments_is_refused(path: str, refusal: str | None) -> None:
    assert path_refusal(SITE + path) == refusal


def variants(*contents: str | None, key: str = "v") -> list[Variant]:
    """Variants of one path, looked at in this order; None: not yet."""
    return [
        Variant(uri=f"{SITE}/p?{key}={number:03}", content_hash=content, fetched_at=f"2026-01-01T{number:03}")
        for number, content in enumerate(contents)
    ]


@pytest.mark.parametrize(
    ("contents", "refusal"),
    [
        ("", None),
        ("a" * 9, None),
        ("a" * 10, EQUAL),
        ("bcd" + "a" * 10, EQUAL),
        ("a" * 10 + "b", None),
        ("aaaaabaaaaa", None),
    ],
)
def test_the_last_ten_variants_decide(contents: str, refusal: str | None) -> None:
    assert variants_refusal(f"{SITE}/p?v=next", variants(*contents)) == refusal
    assert variants_refusal(f"{SITE}/p?v=next", variants(*contents)[::-1]) == refusal


def test_a_variant_nobody_looked_at_says_nothing() -> None:
    assert variants_refusal(f"{SITE}/p?v=next", variants(*"a" * 9, *[None] * 5)) is None


def test_a_session_is_idle_on_paths_where_a_page_was_the_same_without_it() -> None:
    plain, same, other = (
        Variant(uri=f"{SITE}/p", content_hash="a", fetched_at="1"),
        Variant(uri=f"{SITE}/p?sid=1", content_hash="a", fetched_at="2"),
        Variant(uri=f"{SITE}/p?sid=1", content_hash="b", fetched_at="2"),
    )
    assert variants_refusal(f"{SITE}/p?sid=2", [plain, same]) == IDLE
    assert variants_refusal(f"{SITE}/p?page=2", [plain, same]) is None
    assert variants_refusal(f"{SITE}/p?sid=2", [plain, other]) is None
    assert variants_refusal(f"{SITE}/p?sid=2", [plain]) is None


def seen_of_each(number: int) -> Callable[[Collection[str]], Mapping[str, int]]:
    """So many variants of every path have been looked at."""
    return lambda paths: dict.fromkeys(paths, number)


def test_so_many_new_variants_of_a_path_are_looked_at_as_were_before_and_ten_at_least() -> None:
    waiting = [(f"{SITE}/p?v={number}", True) for number in range(50)]
    others = [(f"{SITE}/q?v=1", True), (f"{SITE}/p?v=known", False), (f"{SITE}/r", True)]

    def chosen(seen: int) -> int:
        return len(spread_variants([*waiting, *others], seen_of_each(seen)))

    assert [chosen(seen) - len(others) for seen in (0, 10, 20, 100)] == [10, 10, 20, 50]


def test_no_variant_is_held_back_for_ever() -> None:
    waiting, waves = {f"{SITE}/p?v={number}" for number in range(500)}, 0
    while waiting:
        seen = 500 - len(waiting)
        now = [(uri, True) for uri in sorted(waiting)]
        waiting -= {*spread_variants(now, seen_of_each(seen))}
        waves += 1
    assert waves < 10


def test_a_ring_is_those_who_come_back_to_themselves() -> None:
    redirects = {"a": "b", "b": "c", "c": "a", "d": "a", "e": "f", "g": "g"}
    assert redirect_rings(redirects) == ("a", "b", "c", "g")
    chain = {f"{SITE}/{number}": f"{SITE}/{number + 1}" for number in range(100_000)}
    assert redirect_rings(chain) == ()
