"""Who may see a document: what its source file and its front matter ask of a reader."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import unquote

from ingest.plan.scope import scope_subject
from schemas.access import EVERYTHING, PUBLIC, Groups, PathAccess, SourceAccess
from schemas.source import Source

Asked = frozenset[Groups]
"""Lists of groups, of each of which a reader needs one."""

Match = Callable[[str], re.Match[str] | None]

_CLOSED: Asked = frozenset({frozenset({EVERYTHING})})
_ROUNDS = 12
_WEB = ("http://", "https://")
_SIGNS = {"%2a": "[*]", "%3f": "[?]", "%5b": "[[]"}
_ESCAPED_SIGN = re.compile("|".join(_SIGNS), re.IGNORECASE)
_ORIGIN = re.compile(r"^https?://(?:www\.)?([^/]*?)\.?(?::(?:[^/:\[\]]|\[[^\]]*\])*)?(?=/|$)", re.IGNORECASE)
_INDEX = re.compile(r"(?:index|default)(?:\.\w+)+")
_END = re.compile(rf"(?<=[^*?\]/])(?:/+{_INDEX.pattern}/*|/+|\.(?:x?html?|php|aspx?|jsp|md)/*)$")
"""What servers add to an address, or leave out of it; not behind a wildcard, which it would let match all."""

_ORIGIN_AND_PATH = re.compile(r"(http://[^/]*/?)?(.*)", re.DOTALL)
_UNDECIDED = re.compile(r"[\x00-\x1f\x7f]|%u[0-9a-f]{4}|[^/]~\d(?:\.\w{0,3})?(?=/|$)")
"""What servers cut short or refuse, escapes of no UTF-8, and short names of Windows."""

_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


class _Glob(NamedTuple):
    """What matches an address as it is written, one that is folded, its path, and pairs of its query."""

    written: Match
    folded: Match
    head: Match
    pairs: tuple[Match, ...]
    groups: tuple[str, ...]


def asked_of(source: Source, uri: str) -> Asked:
    """Return what the source file asks of who sees an address: a list for each way a server may read it.

    Of each reading the last glob that matches counts, and all readings together: which of them a server
    follows cannot be known from here.
    """
    lists = _asked(source.access, scope_subject(uri))
    return frozenset(groups for groups in lists if groups and PUBLIC not in groups)


def is_named(source: Source, uri: str) -> bool:
    """Whether a glob of `access.paths` matches an address as it is written."""
    return _as_written(source.access, scope_subject(uri)) is not None


def why_closed(source: Source, uri: str) -> str | None:
    """Say why more is asked at an address than the source file says of it as written; None: no more is."""
    asked = asked_of(source, uri)
    written = _as_written(source.access, scope_subject(uri))
    more = asked - {frozenset(source.access.groups if written is None else written)}
    if not more:
        return None
    if more & _CLOSED:
        return (
            "seen only in the whole index: servers do not agree on how to read its address, so that globs of "
            "access cannot be applied"
        )
    names = " and ".join(sorted("|".join(sorted(groups)) for groups in more))
    return f"only for {names}: servers may read its address as one that access.paths closes"


def may_see(reader: Groups, *asked: Iterable[str]) -> bool:
    """Whether a reader has one of the groups of each list; an empty list asks for none.

    Front matter is a list of its own, beside that of the source file: it can narrow who sees a document, and
    never let others see it.
    """
    if EVERYTHING in reader:
        return True
    has = reader | {PUBLIC}
    return all(not groups or not has.isdisjoint(groups) for groups in map(frozenset, asked))


def _asked(access: SourceAccess, subject: str) -> Asked:
    globs, written = _globs(access), _as_written(access, subject)
    lists = {frozenset(access.groups if written is None else written)}
    readings = _readings(subject) if access.paths else ()
    if readings is None:
        return _CLOSED | lists
    for path, pairs in readings:
        bare = _END.sub("", path)
        paths = {path, f"{path}/", bare, f"{bare}/"}
        found = (glob.groups for glob in globs if _matches(path, paths, pairs, glob))
        lists.add(frozenset(next(found, access.groups)))
    return frozenset(lists)


def _as_written(access: SourceAccess, subject: str) -> tuple[str, ...] | None:
    """The groups of the last glob that matches; None where none does."""
    return next((glob.groups for glob in _globs(access) if glob.written(subject)), None)


@lru_cache(maxsize=64)
def _globs(access: SourceAccess) -> tuple[_Glob, ...]:
    """The globs of a source, the last one first."""
    return tuple(_glob(one) for one in reversed(access.paths))


def _glob(one: PathAccess) -> _Glob:
    folded = _folded_glob(one.path)
    head, _, tail = folded.rpartition("?")
    pairs = tuple(map(_matcher, tail.split("&"))) if "=" in tail else ()
    either = _matcher(folded, _END.sub("", folded))
    return _Glob(_matcher(one.path), either, _matcher(head), pairs, one.groups)


def _matcher(*globs: str) -> Match:
    return re.compile("|".join(map(translate, globs))).match


def _folded_glob(glob: str) -> str:
    """A glob as it matches addresses that are folded."""
    text = _ESCAPED_SIGN.sub(lambda sign: _SIGNS[sign[0].lower()], glob)
    text = _ORIGIN.sub(_plain_origin, _folded(text) or text)
    return re.sub(r"(?<!:)/{2,}", "/", text.replace("\\", "/"))


def _matches(path: str, paths: Collection[str], pairs: Sequence[str], glob: _Glob) -> bool:
    """Whether a folded glob matches a reading; pairs of a query match in any order, and among others."""
    if any(map(glob.folded, paths)) or (pairs and glob.folded(f"{path}?{'&'.join(pairs)}")):
        return True
    if not glob.pairs or not any(map(glob.head, paths)):
        return False
    return all(any(map(one, pairs)) for one in glob.pairs)


def _readings(subject: str) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
    """Path and query of an address, or a path of a folder, as servers may read it; None where nobody can say.

    Servers undo escapes, once or twice, take `\\` for `/`, resolve dots after that, ignore case and double
    slashes, cut off `;parameters`, spaces and dots at the end of a name, and name a folder's page.
    """
    is_web = subject.startswith(_WEB)
    address, _, query = subject.partition("?") if is_web else (subject, "", "")
    origin, path = _ORIGIN_AND_PATH.findall(_ORIGIN.sub(_plain_origin, address))[0]
    path, *pairs = (_folded(text) for text in (path, *re.split("[&;]", query)))
    if is_web and (path is None or None in pairs or _UNDECIDED.search(path)):
        return None
    ways = _ways((address if path is None else path).replace("\\", "/"))
    paths = dict.fromkeys(origin + _resolved(names) for names in ways)
    return tuple((one, said) for one in paths for said in _said([pair for pair in pairs if pair]))


def _plain_origin(origin: re.Match[str]) -> str:
    """A site by its host alone: scheme and port are other doors to it."""
    return f"http://{origin[1]}"


def _folded(text: str) -> str | None:
    """Undo escapes, case, and signs that only look different, until nothing changes; None: it cannot be."""
    for _ in range(_ROUNDS):
        try:
            seen = _UNSEEN.sub("", unquote(text, errors="strict"))
        except UnicodeDecodeError:
            return None
        after = normalize("NFKC", seen).casefold()
        if after == text:
            return text
        text = after
    return None


def _ways(path: str) -> Iterator[list[str]]:
    """Names of a path as they are, and as servers tidy them."""
    names = path.split("/")
    yield names
    tidy = (name.partition(";")[0].partition("::$")[0].rstrip() for name in names)
    yield [name.rstrip(". ") if name.strip(".") else name for name in tidy if not _INDEX.fullmatch(name)]


def _resolved(names: Sequence[str]) -> str:
    kept: list[str] = []
    for name in names:
        if name == "..":
            del kept[-1:]
        elif name not in ("", "."):
            kept.append(name)
    return "/".join(kept)


def _said(pairs: Collection[str]) -> Iterable[tuple[str, ...]]:
    """The query as it is read where the first of equal keys counts, and where the last does."""
    last = {pair.partition("=")[0]: pair for pair in pairs}
    first = {pair.partition("=")[0]: pair for pair in reversed(tuple(pairs))}
    return {tuple(sorted(first.values())), tuple(sorted(last.values()))}
