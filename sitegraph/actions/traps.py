"""Which parts of a site say the same again: other versions, translations, print forms, searches; pure.

A guess made of addresses alone, written into a source file where its owner sees it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ingest.urls import version_rank

_IsKind = Callable[[str, str], bool]
"""Whether the folder at a path (which ends with a slash, or is empty) has a name of a kind."""

_Best = Callable[[Collection[str]], str]

_LANGUAGE = re.compile(
    "(ar|bg|bn|ca|cs|da|de|el|en|es|et|fa|fi|fr|he|hi|hr|hu|id|it|ja|ka|kk|ko|lt|lv|ms|nb|nl|nn|no|pl|pt|ro"
    "|ru|sk|sl|sr|sv|ta|th|tr|uk|ur|uz|vi|zh)([-_][A-Za-z]{2,4})?"
)
"""A language that documentation is translated into, and a region or script. Source: ISO 639-1, RFC 5646."""

_START = re.compile(r"(index\.\w+)?")
_FORMS: tuple[tuple[str, str], ...] = (
    ("*/search.html", "search page"),
    ("*[?&]q=*", "results of a search"),
    ("*/print.html", "the whole book on one page, to print"),
    ("*/_print/*", "pages to print"),
    ("*[?&]print*=*", "pages to print"),
    ("*[?&]printable=yes*", "pages to print"),
    ("*/_sources/*", "sources of the pages"),
    ("*/_modules/*", "source code as pages"),
    ("*[?]C=?;O=?", "the same listing in another order"),
    ("*[?&]action=edit*", "forms to edit pages"),
)
"""Globs that are written where an address of the site matches, and the reason. Tools that make such: Sphinx,
mdBook, Docsy, MediaWiki, Apache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclude:
    """A glob of a scope, and why."""

    glob: str
    reason: str


def find_traps(urls: Collection[str], *, prefix: str, lang: str | None = None) -> tuple[Exclude, ...]:
    """Return what to leave out of *urls*, all of which begin with *prefix* (a folder's URL, with its slash).

    *lang*: the language of the start page, which stays.
    """
    below = [url.removeprefix(prefix) for url in urls if url.startswith(prefix)]
    versions, languages = _twins(below, _version_kind(below)), _twins(below, _is_language)
    return (
        *_excluded(prefix, _superfluous(versions, _best_version), "another version of {}"),
        *_excluded(prefix, _superfluous(languages, _best_language(lang)), "translation of {}"),
        *(Exclude(glob=glob, reason=reason) for glob, reason in _FORMS if _matches(glob, below)),
    )


def escaped(text: str) -> str:
    """Return a glob that matches *text* and nothing else (fnmatch)."""
    return re.sub(r"([*?[])", r"[\1]", text)


def is_excluded(subject: str, excludes: Iterable[Exclude]) -> bool:
    """Whether any of the globs matches a URL or path."""
    return any(fnmatchcase(subject, exclude.glob) for exclude in excludes)


@dataclass(frozen=True, slots=True)
class _Siblings:
    """Folders at one place whose pages are called alike: their names, and whether there are such without."""

    names: tuple[str, ...]
    without: bool


def _twins(below: Iterable[str], is_kind: _IsKind) -> Mapping[str, _Siblings]:
    """Return, by the path before them, the folders of a kind that contain pages of equal names."""
    tails: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    plain: set[str] = set()
    for path in below:
        for before, name, tail in _splits(path, is_kind):
            tails[before][name].add(tail)
            break
        else:
            plain.add(path)
    found = {before: _siblings(before, names, plain) for before, names in tails.items()}
    return {before: siblings for before, siblings in found.items() if siblings is not None}


def _splits(path: str, is_kind: _IsKind) -> Iterator[tuple[str, str, str]]:
    for before, name, tail in _folders(path):
        if is_kind(before, name):
            yield before, name, "" if _START.fullmatch(tail) else tail


def _folders(path: str) -> Iterator[tuple[str, str, str]]:
    """Yield each folder of a path: what stands before it, its name, and what stands behind it."""
    plain = re.split(r"[?#]", path, maxsplit=1)[0]
    at = 0
    while (end := plain.find("/", at)) >= 0:
        yield plain[:at], plain[at:end], plain[end + 1 :]
        at = end + 1


def _siblings(before: str, names: Mapping[str, set[str]], plain: set[str]) -> _Siblings | None:
    counts = Counter(tail for tails in names.values() for tail in tails)
    without = any(tail and f"{before}{tail}" in plain for tails in names.values() for tail in tails)
    # That two numbered folders have a start page says nothing: a list of pages has such folders, too.
    alike = any(
        counts[tail] > 1 and (tail or not name.isdecimal()) for name, tails in names.items() for tail in tails
    )
    return _Siblings(tuple(names), without) if without or alike else None


def _superfluous(found: Mapping[str, _Siblings], best: _Best) -> Iterator[tuple[str, str, str]]:
    """Yield the path before a folder, the folder that goes, and what stays in its place."""
    for before, siblings in sorted(found.items()):
        stays = "" if siblings.without else best(siblings.names)
        for name in sorted(siblings.names):
            if name != stays:
                yield before, name, stays


def _excluded(prefix: str, names: Iterable[tuple[str, str, str]], reason: str) -> Iterator[Exclude]:
    for before, name, stays in names:
        yield Exclude(
            glob=f"{escaped(f'{prefix}{before}{name}')}/*",
            reason=reason.format(stays or "the pages above it"),
        )


def _matches(glob: str, below: Iterable[str]) -> bool:
    return any(fnmatchcase(f"/{path}", glob) for path in below)


def _version_kind(below: Iterable[str]) -> _IsKind:
    """Return what tells versions; a bare number is one where surely versions stand beside it."""
    folders = {(before, name) for path in below for before, name, _ in _folders(path)}
    above = {before for before, name in folders if version_rank(name) is not None}
    return lambda before, name: version_rank(name, beside_version=before in above) is not None


def _is_language(_before: str, name: str) -> bool:
    return _LANGUAGE.fullmatch(name) is not None


def _best_version(names: Collection[str]) -> str:
    """The one that readers are sent to by default, else the newest that is released."""
    ranks = {name: version_rank(name, beside_version=True) for name in names}
    return min((rank, name) for name, rank in ranks.items() if rank is not None)[1]


def _best_language(lang: str | None) -> _Best:
    wanted = (lang or "en").replace("_", "-").lower()

    def best(names: Collection[str]) -> str:
        spelt = {name.replace("_", "-").lower(): name for name in names}
        short = wanted.partition("-")[0]
        return spelt.get(wanted) or spelt.get(short) or spelt.get("en") or min(names)

    return best
