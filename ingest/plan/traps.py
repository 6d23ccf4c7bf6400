"""Addresses that sites make without end, and when to stop following them.

Source of the numbers: crawl rules, section 7.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ingest.session_ids import path_of_variant, without_session

MAX_SEGMENTS = 20
MAX_NUMBERED_DEPTH = 20
MAX_REPEATS = 3
MAX_EQUAL_VARIANTS = 10

_NUMBER = re.compile(r"\d[\d._-]*(\.\D\w*)?")
"""A path segment of numbers alone: `2026`, `2026-11`, `11.html`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A known address that differs from others in query or session alone; None: not yet looked at."""

    uri: str
    content_hash: str | None = None
    fetched_at: str | None = None


def path_refusal(uri: str) -> str | None:
    """Say what makes the path of a web address one that no person wrote; None for an ordinary one."""
    path = uri.partition("?")[0].partition("://")[2].partition("/")[2]
    segments = path.removesuffix("/").split("/")
    if len(segments) > MAX_SEGMENTS:
        return f"more than {MAX_SEGMENTS} path segments"
    if max(Counter(segments).values()) > MAX_REPEATS:
        return f"a path segment more than {MAX_REPEATS} times"
    return None


def numbered_refusal(uri: str, *, depth: int) -> str | None:
    """Say so when so many links lead to a query or a number that they may be counted up without end.

    People write manuals whose pages lead from one to the next without end too, but name them by words.
    """
    path, query, _ = uri.partition("://")[2].partition("?")
    if depth <= MAX_NUMBERED_DEPTH or not (query or any(map(_NUMBER.fullmatch, path.split("/")[1:]))):
        return None
    return f"a query or a numbered path more than {MAX_NUMBERED_DEPTH} links deep"


def variants_refusal(uri: str, variants: Sequence[Variant]) -> str | None:
    """Say why one more variant of a path is not worth a look, by what the others held; None when it is.

    A session id is dropped where a page was the same without it, judged path by path: elsewhere `sid` may
    be the number of a story.
    """
    looked_at = [variant for variant in variants if variant.content_hash is not None]
    if without_session(uri) is not None and _is_session_idle(looked_at):
        return "session id without which the page is the same"
    looked_at.sort(key=lambda variant: (variant.fetched_at or "", variant.uri))
    latest = [variant.content_hash for variant in looked_at[-MAX_EQUAL_VARIANTS:]]
    if len(latest) == MAX_EQUAL_VARIANTS and len(set(latest)) == 1:
        return f"{MAX_EQUAL_VARIANTS} query variants in a row with equal content"
    return None


def _is_session_idle(looked_at: Sequence[Variant]) -> bool:
    by_uri = {variant.uri: variant.content_hash for variant in looked_at}
    return any(
        (plain := without_session(uri)) is not None and by_uri.get(plain) == content
        for uri, content in by_uri.items()
    )


def spread_variants(
    waiting: Iterable[tuple[str, bool]], looked_at: Callable[[Collection[str]], Mapping[str, int]]
) -> tuple[str, ...]:
    """Return the URIs to look at now: of one path, so many new variants that equal ones are noticed in time.

    Args: waiting: URIs, and whether each is new; looked_at: how many variants of paths have been looked at.
    A path that has shown different pages is given as many again.
    """
    rows = [(uri, path_of_variant(uri) if is_new else None) for uri, is_new in waiting]
    crowded = {
        path
        for path, number in Counter(path for _, path in rows).items()
        if path is not None and number > MAX_EQUAL_VARIANTS
    }
    allowed = Counter({path: max(number, MAX_EQUAL_VARIANTS) for path, number in looked_at(crowded).items()})
    chosen = []
    for uri, path in rows:
        if path in crowded:
            if allowed[path] <= 0:
                continue
            allowed[path] -= 1
        chosen.append(uri)
    return tuple(chosen)


def redirect_rings(redirects: Mapping[str, str]) -> tuple[str, ...]:
    """Addresses whose redirects lead back to themselves, in order; each was looked at once and left."""
    rings: list[str] = []
    seen: set[str] = set()
    for uri in redirects:
        passed, at = list[str](), uri
        while at in redirects and at not in seen:
            seen.add(at)
            passed.append(at)
            at = redirects[at]
        if at in passed:
            rings += passed[passed.index(at) :]
    return tuple(sorted(rings))
