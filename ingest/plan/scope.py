"""Which documents belong to a source: its scope, its globs, and addresses that sites make without end.

Source of the numbers: crawl rules, section 7.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from ingest.urls import canonical_url, file_path, folder_of, is_file_url, path_of_variant, without_session
from schemas.source import Source

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


def _numbered_refusal(uri: str, *, depth: int) -> str | None:
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


def scope_refusal(uri: str, source: Source, *, depth: int = 0) -> str | None:
    """Say why a document does not belong to the source, or lies beyond a budget; None when it belongs."""
    return outside_refusal(uri, source) or budget_refusal(uri, source, depth=depth)


def outside_refusal(uri: str, source: Source) -> str | None:
    """Say why the source file does not mean a document; None when it does.

    Seeds always belong. Without `include`, everything under each seed's folder does, or all where there is
    no seed.
    """
    if _is_seed(uri, source):
        return None
    subject = scope_subject(uri)
    if any(fnmatchcase(subject, glob) for glob in source.scope.exclude):
        return "excluded by scope.exclude"
    if fnmatchcase(subject, source.login.logged_out.address or ""):
        return "the address of a login (logged_out.address)"
    return None if _included(subject, source) else "outside the source's scope"


def is_inside(source: Source, uri: str) -> bool:
    """Whether the source file means a document, budgets aside."""
    return outside_refusal(uri, source) is None


def budget_refusal(uri: str, source: Source, *, depth: int) -> str | None:
    """Say which budget an address goes beyond by itself, whatever else is known.

    None for seeds, and where there are none: then nothing leads on, and there is no trap.
    """
    if not source.seeds or _is_seed(uri, source):
        return None
    deepest = source.scope.max_depth
    if deepest is None:
        return path_refusal(uri) or _numbered_refusal(uri, depth=depth)
    return f"deeper than max_depth {deepest}" if depth > deepest else path_refusal(uri)


def is_exempt(uri: str, source: Source) -> bool:
    """Whether the source file says that a page is content, whatever it looks like."""
    return any(fnmatchcase(uri, glob) for glob in source.quarantine.exempt)


def seed_urls(source: Source) -> tuple[str, ...]:
    """The seeds in canonical form."""
    return _canonical(source.seeds, routed=source.javascript)


@lru_cache(maxsize=64)
def _canonical(seeds: tuple[str, ...], *, routed: bool) -> tuple[str, ...]:
    return tuple(url for seed in seeds if (url := canonical_url(seed, routed=routed)) is not None)


def scope_subject(uri: str) -> str:
    """What the globs are matched against: the canonical URL, or the path under the root."""
    return file_path(uri) if is_file_url(uri) else uri


def _is_seed(uri: str, source: Source) -> bool:
    return uri in seed_urls(source)


def _included(subject: str, source: Source) -> bool:
    if source.scope.include:
        return any(fnmatchcase(subject, glob) for glob in source.scope.include)
    if not source.seeds:
        return True
    return any(subject.startswith(folder_of(seed)) for seed in seed_urls(source))


_SCHEMES = ("http://", "https://")
_CLASS = re.compile(r"\[!?\]?[^\]]*\]")
_SIGN = re.compile(r"\[([*?[])\]")
"""A sign that stands for itself (fnmatch)."""

_IPV6 = re.compile(r"(https?://)\[(?=[0-9a-f:.]*:[0-9a-f:.]*\])", re.IGNORECASE)
_NEVER = re.compile(r"[^\x21-\x7e]|#(?![/!*?\[])")
"""What no canonical address has: it is escaped there, or cut off; a route begins with `#/` or `#!`."""


def sole_match(glob: str) -> str | None:
    """Return the one text that a glob matches; None where it may match more than one."""
    rest = _SIGN.sub("", glob)
    return None if re.search(r"[*?[]", rest) else _SIGN.sub(r"\1", glob)


def glob_refusal(glob: str, *, by_path: bool, endings: Collection[str] = ()) -> str | None:
    """Say why no document can match a glob, and how it may be meant; None where one can.

    *by_path*: it is of paths under a root, not of addresses. *endings*: of the names of files that are read,
    where only these may be meant.
    """
    # A class such as [ab] stands for one character, as ? does (fnmatch).
    plain = _CLASS.sub("?", glob)
    start = re.split(r"[*?]", plain, maxsplit=1)[0]
    if not glob:
        return "is empty"
    if by_path:
        return _file_refusal(plain, start, endings)
    if found := _IPV6.match(glob):
        return f"matches no address: [ ] stand for one character; write {found[1]}[[]{glob[found.end() :]}"
    return _web_refusal(plain, start)


def foreign_refusal(glob: str) -> str | None:
    """Say what a glob misses that is written as other programs read globs; None where it is not."""
    if "**/" in glob:
        ways = [glob.replace("**/", ""), glob.replace("**/", "*/")]
        return f"misses what is in no further folder; write {' and '.join(ways)}"
    if found := re.search(r"\{([^{}]*,[^{}]*)\}", glob):
        ways = [glob[: found.start()] + one + glob[found.end() :] for one in found[1].split(",")]
        return f"lists nothing: braces stand for themselves; write {' and '.join(ways)}"
    return None


def _web_refusal(glob: str, start: str) -> str | None:
    if found := _NEVER.search(glob):
        return f"matches no address: {found[0]!r} does not occur in one (it is escaped, or left out)"
    scheme = next((one for one in _SCHEMES if start.startswith(one)), None)
    if scheme is None:
        if any(one.startswith(start) for one in _SCHEMES):
            return None
        return f"matches no address, all of which begin with http:// or https://; write *{glob}"
    authority, slash, _ = start.removeprefix(scheme).partition("/")
    if start != glob and not slash:
        return None  # the host goes on with what a wildcard stands for
    known = glob if start == glob else f"{scheme}{authority}/"
    meant = canonical_url(known, routed=True)
    if meant is None:
        return "matches no address: it has no host"
    return None if meant == known else f"matches no address; write {meant}{glob[len(known) :]}"


def _file_refusal(glob: str, start: str, endings: Collection[str]) -> str | None:
    if start.startswith(("/", "./", "../")):
        return "matches no file: paths begin under the root, as in guide/*"
    if glob.endswith("/"):
        return f"matches no file; write {glob}* for all that is in the folder"
    end = re.split(r"[*?]", glob)[-1].lower()
    if endings and not any(one.endswith(end) or end.endswith(one) for one in endings):
        return f"matches no file: only {', '.join(sorted(endings))} are read"
    return None
