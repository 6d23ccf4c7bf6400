"""Who may see a document: what its source file and its front matter ask of a reader."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import unquote, unquote_plus

from ingest.plan.scope import scope_subject
from schemas.access import EVERYTHING, PUBLIC, Groups, PathAccess, SourceAccess, is_refusal, refused_to
from schemas.source import Source
from schemas.text import replace_unseen

Asked = frozenset[Groups]
"""Lists of groups, of each of which a reader needs one."""

Match = Callable[[str], re.Match[str] | None]

CLOSED: Asked = frozenset({frozenset({EVERYTHING})})
"""What is asked at an address that servers may read in more ways than one."""

_ROUNDS = 12
_WEB = ("http://", "https://")
_SIGNS = {"%2a": "[*]", "%5b": "[[]"}
_ESCAPED_SIGN = re.compile("|".join(_SIGNS), re.IGNORECASE)
_ORIGIN = re.compile(r"([^/]*://)?(?:www\.)?([^/]*?)\.?(:(?:[^/:\[\]]|\[[^\]]*\])*)?(?=/|$)")
_INDEX = r"(?:index|default)(?:\.\w+)+"
_TYPES = r"(?:[xs]?html?|php\d?|aspx?|ashx|jspx?|cgi|pl|py|cfm|do|md)"
_END = re.compile(rf"(?<=[^*?\]/])(?:/+{_INDEX}/*|/+|(?:\.[a-z]{{2}})?\.{_TYPES}(?:\.[a-z]{{2}})?/*)$")
"""What servers add to an address, or leave out of it; not behind a wildcard, which it would let match all."""

_ASKS = re.compile(r"\?[^/?]*=[^?]*$")
_GLOB_END = re.compile(r"(?=(/(?:index|default)[^/]*$|\.[^/.]+$))")
_SCRIPT = re.compile(rf"/[^/]+\.{_TYPES}(?=/)")
"""A page that other names stand behind: they may be its own business, or all that counts."""

_ODD_ESCAPES = re.compile("%2f|%c[01]%[89ab]|%e0%[89]|%f0%8", re.IGNORECASE)
"""Slashes that are none to some servers, and UTF-8 that is longer than it may be."""

_ODD = re.compile(
    r"%[0-9a-f]{2}|%u[0-9a-f]{4}|[\\;?#]|//|[. ](?=/|$)|(?<=/) "
    r"|:(?=\$|/|$)|/\([a-z]\(|/[^/]{3,6}~\d+(?:\.[^/]{0,3})?(?=/|$)",
    re.IGNORECASE,
)
"""What servers cut off, undo again or resolve, each in its own way, streams and short names of Windows."""


class _Glob(NamedTuple):
    """What matches an address without and with its query, other forms of it, and pairs of a query."""

    path: Match
    whole: Match
    form: Match
    head: Match
    pairs: tuple[Match, ...]
    ends: tuple[str, ...]
    groups: Groups


def asked_of(source: Source, uri: str) -> Asked:
    """Return what the source file asks of who sees an address; `CLOSED` where globs cannot be applied to it.

    That is where servers do not agree on how to read it. Of other addresses all that a server may take them
    for counts together, and of that the last glob that matches.
    """
    lists = _asked(source.access, scope_subject(uri))
    return frozenset(groups for groups in lists if groups and PUBLIC not in groups)


def has_path_rule(source: Source, uri: str) -> bool:
    """Whether a glob of `access.paths` matches an address as it is written."""
    return _as_written(source.access, scope_subject(uri)) is not None


def why_closed(source: Source, uri: str, asked: Asked) -> str | None:
    """Say why of *asked* more comes from an address than its source file says of it as written."""
    written = _as_written(source.access, scope_subject(uri))
    more = (asked & asked_of(source, uri)) - {frozenset(source.access.groups if written is None else written)}
    if not more:
        return None
    if more & CLOSED:
        return (
            "seen only in the whole index: servers do not agree on how to read its address, so that globs of "
            "access cannot be applied"
        )
    names = " and ".join(sorted("|".join(sorted(groups)) for groups in more))
    return f"only for {names}: servers may read its address as one that access.paths closes"


def may_see(reader: Groups, *asked: Iterable[str]) -> bool:
    """Whether a reader has one of the groups of each list; an empty list asks for none.

    Front matter is a list of its own, beside that of the source file: it can narrow who sees a document, and
    never let others see it. A refusal of a use is one as well, which keeps out those alone who are narrowed.
    """
    lists = [frozenset(groups) for groups in asked]
    barred = refused_to(reader)
    if any(barred & groups for groups in lists):
        return False
    has = reader | {PUBLIC}
    return EVERYTHING in reader or all(not one or has & one or is_refusal(one) for one in lists)


def _asked(access: SourceAccess, subject: str) -> Asked:
    written = _as_written(access, subject)
    lists = {frozenset(access.groups if written is None else written)}
    if not access.paths:
        return frozenset(lists)
    is_web = subject.startswith(_WEB)
    address, _, query = subject.partition("?") if is_web else (subject, "", "")
    start = address.find("/", 8) if is_web else 0
    path = _plain_path(address[start:]) if is_web else _folded(address)
    if path is None or (is_web and _ODD_ESCAPES.search(query)):
        return CLOSED | lists
    for reading in _readings(path.casefold()):
        lists |= _of_reading(access, address[:start], reading, query)
    return frozenset(lists)


def _of_reading(access: SourceAccess, origin: str, path: str, query: str) -> Asked:
    """What is asked at an address: all globs count that may mean it, by any door, back to one that does."""
    address, said = origin + path, f"?{_folded(unquote_plus(query))}" if query else ""
    paths = [door + path for door in _doors(origin)]
    bare = {_END.sub("", one) for one in paths}
    forms = {form for one in (*paths, *bare) for form in (one, f"{one}/", f"{one}/index.html")}
    pairs, lists = _pairs(query), set[Groups]()
    for glob in _globs(access, is_web=bool(origin)):
        if glob.path(address) and glob.whole(address + said):
            return frozenset({*lists, glob.groups})
        ways = forms.union(name + end for name in bare for end in glob.ends)
        is_asked = pairs and glob.pairs and all(any(map(one, pairs)) for one in glob.pairs)
        if any(map(glob.form, ways)) or (is_asked and any(map(glob.head, ways))):
            lists.add(glob.groups)
    return frozenset({*lists, frozenset(access.groups)})


def _as_written(access: SourceAccess, subject: str) -> tuple[str, ...] | None:
    """The groups of the last glob that matches; None where none does."""
    return next((groups for match, groups in _written(access) if match(subject)), None)


@lru_cache(maxsize=64)
def _written(access: SourceAccess) -> tuple[tuple[Match, tuple[str, ...]], ...]:
    return tuple((_matcher(one.path), one.groups) for one in reversed(access.paths))


@lru_cache(maxsize=64)
def _globs(access: SourceAccess, *, is_web: bool) -> tuple[_Glob, ...]:
    """The globs of a source, the last one first."""
    return tuple(_glob(one, is_web=is_web) for one in reversed(access.paths))


def _glob(one: PathAccess, *, is_web: bool) -> _Glob:
    text = _folded_glob(one.path) if is_web else _folded(one.path)
    plain = _ORIGIN.sub(_plain_origin, text, count=1) if is_web else text
    asks, (head, _, tail) = _ASKS.search(text), plain.rpartition("?")
    return _Glob(
        path=_matcher(text[: asks.start()] if asks else text),
        whole=_matcher(text),
        form=_matcher(plain, _END.sub("", plain)),
        head=_matcher(head, _END.sub("", head)),
        pairs=tuple(map(_matcher, tail.split("&"))) if head else (),
        ends=(*_GLOB_END.findall(plain), *_GLOB_END.findall(head)),
        groups=frozenset(one.groups),
    )


def _matcher(*globs: str) -> Match:
    return re.compile("|".join(map(translate, globs))).match


def _folded_glob(glob: str) -> str:
    """A glob as it matches addresses that are folded."""
    text = _ESCAPED_SIGN.sub(lambda sign: _SIGNS[sign[0].lower()], glob.replace("[?]", "?"))
    text = _folded(_undone(text)).replace("[]=", "=").replace("\\", "/")
    return _ASKS.sub(lambda query: query[0].replace("+", " "), re.sub(r"(?<!:)/{2,}", "/", text))


def _plain_origin(origin: re.Match[str]) -> str:
    scheme, host, port = origin.groups("")
    is_ours = any(fnmatchcase(one, scheme) for one in _WEB)
    return f"{'http://' if is_ours else scheme}{host}{'*' if '*' in port else ''}"


def _doors(origin: str) -> Iterable[str]:
    """Ways to name a site, which is one by whichever of them."""
    if not origin:
        return ("",)
    _, host, port = _ORIGIN.findall(origin)[0]
    return dict.fromkeys(f"http://{www}{host}{at}" for at in ("", port) for www in ("", "www."))


def _readings(path: str) -> Iterator[str]:
    """A path, up to each page that other names stand behind, and without such pages."""
    yield path
    pages = tuple(_SCRIPT.finditer(path))
    yield from (path[: page.end()] for page in pages)
    if pages:
        yield _SCRIPT.sub("", path)


def _plain_path(path: str) -> str | None:
    """Undo the escapes of a path once; None where servers may see another path in it."""
    text = _undone(path)
    if _ODD_ESCAPES.search(path) or _ODD.search(text) or not text.isprintable():
        return None
    return text if text == normalize("NFKC", replace_unseen(text)) else None


def _undone(text: str) -> str:
    """Undo escapes once, of Latin-1 where they are not of UTF-8."""
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return unquote(text, encoding="latin-1")


def _folded(text: str) -> str:
    return normalize("NFKC", replace_unseen(text).replace("\ufffd", "")).casefold()


def _pairs(query: str) -> Collection[str]:
    """The parts of a query, in each way that programs may undo them: of equal keys any may count."""
    found: set[str] = set()
    stages = [query]
    while len(stages) < _ROUNDS and (after := unquote_plus(stages[-1])) != stages[-1]:
        stages.append(after)
    for text in {one for stage in stages for one in re.split("[&;]", _folded(stage)) if one}:
        key, _, value = text.partition("=")
        for name in (key, re.sub(r"\[[^\]]*\]?$", "", key.strip())):
            found |= {f"{name}={value}", name} if not value else {f"{name}={value}"}
    return found
