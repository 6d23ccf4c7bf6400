"""URL identity: one text per document, by the WHATWG rules that browsers follow; session ids and versions.

Two schemes carry documents: http(s), and the internal `files://<source>/<path>` of a local folder.
"""

import re
from functools import lru_cache
from unicodedata import normalize
from urllib.parse import quote, unquote

import ada_url

from schemas.families import AHEAD, SETTLED

MAX_LENGTH = 2048
"""Characters of a web URL; a longer one is a trap or carries data, and names no document."""

_FILES = "files://"
_TOOLS = "tools://"
_PORTS = {"http": 80, "https": 443}
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# An escape that follows a stray "%" stays: decoding it could form a new escape, and another URL.
_ESCAPE = re.compile(r"(?<!%)(?<!%.)%([0-9A-Fa-f]{2})", re.DOTALL)
_TRACKING = re.compile(r"(?:utm_.*|gclid|fbclid|msclkid|mc_eid)\Z", re.IGNORECASE | re.DOTALL)
_REFRESH = re.compile(r"\s*(\d*)(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?['\"]?([^'\"]+)", re.IGNORECASE)
_MAX_REFRESH_SECONDS = 5
_FILE_SAFE = "/!$&'()*+,;=:@"


def canonical_url(url: str, base: str | None = None, *, routed: bool = False) -> str | None:
    """Return the one text that names the document *url* points to, or None where it names none.

    None: malformed, user name or password inside, longer than `MAX_LENGTH`, a scheme other than http,
    https and files, and a files URL of another source than *base* (a web page never reaches into a
    folder). Path case, query order and a trailing slash are kept; tracking keys go, and the fragment, but for
    one that a page's scripts read as a path (`is_route`), where it is *routed*. Idempotent.
    Source: WHATWG URL; RFC 3986, 6.2.2; crawl rules, section 6.
    """
    joined = _join(url, base)
    if joined is None:
        return None
    joined, _, fragment = joined.partition("#")
    scheme, _, rest = joined.partition("://")
    if scheme in _PORTS:
        if not _is_plain(rest.partition("/")[0]):
            return None
        normal = _normalise(joined)
        if routed and is_route(fragment):
            normal = f"{normal}#{_ESCAPE.sub(_escape, fragment)}"
        return normal if len(normal) <= MAX_LENGTH else None
    if scheme == "files" and (base is None or base.startswith(f"{_FILES}{rest.partition('/')[0]}/")):
        return _canonical_file(rest)
    return None


def is_route(fragment: str | None) -> bool:
    """Whether a fragment is the path of a page that scripts make: `/guide`, `!/guide`; the start has none."""
    return (fragment or "")[:1] in ("/", "!") and fragment not in ("/", "!", "!/")


def file_url(source: str, path: str) -> str:
    """Name the file *path* (relative to the source's root, `/` between names) of a local source."""
    return f"{_FILES}{quote(source, safe='')}/{quote(path, safe=_FILE_SAFE, errors='surrogateescape')}"


def file_path(url: str) -> str:
    """Return the path that `file_url` made *url* from."""
    path = url.removeprefix(_FILES).partition("/")[2]
    return unquote(path, errors="surrogateescape")


def is_file_url(uri: str) -> bool:
    """Whether `file_url` made *uri*."""
    return uri.startswith(_FILES)


def tools_url(source: str, path: str) -> str:
    """Name the file *path* that describes tools of a source; it lies beside the source file."""
    return f"{_TOOLS}{quote(source, safe='')}/{quote(path, safe=_FILE_SAFE, errors='surrogateescape')}"


def is_tools_url(uri: str) -> bool:
    """Whether `tools_url` made *uri*."""
    return uri.startswith(_TOOLS)


def without_route(url: str) -> str:
    """Return what is fetched of a canonical address."""
    return url.partition("#")[0]


def split_fragment(url: str) -> tuple[str, str | None]:
    """Cut a URL into what is fetched and its fragment, percent-decoded; no or empty fragment: None."""
    document, _, fragment = url.partition("#")
    return document, unquote(fragment) or None


def folder_of(url: str) -> str:
    """Return *url* up to and including the last slash of its path; a query does not count."""
    path = re.split(r"[?#]", url, maxsplit=1)[0]
    return path[: path.rindex("/") + 1]


def host_port(url: str) -> tuple[str, int]:
    """Return host (IPv6 without brackets) and port of a canonical http(s) URL."""
    scheme, _, rest = url.partition("://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    host, colon, port = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        return authority.strip("[]"), _PORTS[scheme]
    return host.strip("[]"), int(port)


def registrable_domain(url: str) -> str:
    """Return the domain that was registered by one owner (`docs.example.co.uk` > `example.co.uk`).

    An IP address, `localhost` or a name under no public suffix: the host itself.
    """
    host = host_port(url)[0]
    return _registrable(host) or host


def owned_site(url: str) -> str:
    """Return what surely has one owner: the registrable domain, or where there is none exactly host:port."""
    host, port = host_port(url)
    return _registrable(host) or f"{host}:{port}"


@lru_cache(maxsize=4096)
def _registrable(host: str) -> str | None:
    from tld import get_fld  # what only reads an index asks for no owner, and has it not

    found = get_fld(f"http://{ada_url.idna_to_unicode(host)}/", fail_silently=True)
    return ada_url.idna_to_ascii(found).decode() if found else None


def _join(url: str, base: str | None) -> str | None:
    if base is not None and base.startswith(_FILES) and "://" not in url:
        url = url.replace("\\", "/")  # as browsers do for file:, which WHATWG calls special and files is not
    try:
        joined: str = ada_url.normalize_url(url) if base is None else ada_url.join_url(base, url)
    except ValueError:
        return None
    return joined


def _is_plain(authority: str) -> bool:
    """Neither userinfo, nor a punycode label that no name can have (ada lets those through)."""
    if "@" in authority:
        return False
    return "xn--" not in authority or all(map(_is_label, authority.partition(":")[0].split(".")))


def _is_label(label: str) -> bool:
    if not label.startswith("xn--"):
        return True
    try:
        name = label[4:].encode().decode("punycode")
    except UnicodeError:
        return False
    return name != "" and normalize("NFKC", name) == name


def _normalise(url: str) -> str:
    if "%" in url:
        url = _ESCAPE.sub(_escape, url)
    return _drop_tracking(url) if "?" in url else url


def _escape(match: re.Match[str]) -> str:
    char = chr(int(match[1], 16))
    return char if char in _UNRESERVED else match[0].upper()


def _drop_tracking(url: str) -> str:
    path, _, query = url.partition("?")
    pairs = query.split("&")
    kept = [pair for pair in pairs if not _TRACKING.match(pair.partition("=")[0])]
    if len(kept) == len(pairs):
        return url
    return f"{path}?{'&'.join(kept)}" if kept else path


def _canonical_file(rest: str) -> str | None:
    source, _, path = rest.partition("?")[0].partition("/")
    names = unquote(path, errors="surrogateescape").split("/")
    # WHATWG has resolved dot segments; one that an encoded slash hid would climb later.
    if not source or "\0" in path or "%00" in path or {".", ".."} & set(names):
        return None
    kept = [name for name in names[:-1] if name] + names[-1:]
    return file_url(unquote(source), "/".join(kept))


def refresh_place(content: str) -> str | None:
    """Where a refresh of at most 5 s leads, as written in a meta element or a header; None for a slower one.

    Source: WHATWG HTML, 4.2.5.3 (shared declarative refresh steps).
    """
    match = _REFRESH.match(content)
    return match[2] if match and int(match[1][:9] or 0) <= _MAX_REFRESH_SECONDS else None


_NAMES = "sid|s?sessid|sessionid|session_id|phpsessid|jsessionid|aspsessionid[a-z]*|cfid|cftoken|oscsid|zenid"
_KEY = re.compile(rf"(?:{_NAMES})\Z", re.IGNORECASE)
_ROUTE_KEY = re.compile(rf"(?:id|{_NAMES})\Z", re.IGNORECASE)
_PARAMETER = re.compile(rf";(?:{_NAMES})=[^/;?]*\Z", re.IGNORECASE)
"""At the end of the path, where servlets write it."""


def without_session(uri: str) -> str | None:
    """Return the address without its session id, canonical as it came; None where it bears none.

    What is left of `/.;sid=1` is a dot segment, and names the folder. Whether the name is that of a session
    is for the content to say: elsewhere `sid` is the number of a story. So is what `id` of a route names: a
    heading of the same page, as docsify has it, or a page.
    """
    path, mark, query, route = _parted(uri)
    pairs, key = query.split("&"), _ROUTE_KEY if "#" in path else _KEY
    kept = [pair for pair in pairs if not key.match(pair.partition("=")[0])]
    plain = _PARAMETER.sub("", path)
    if len(kept) == len(pairs) and plain == path:
        return None
    left = f"{plain}{mark}{'&'.join(kept)}" if kept and mark else plain
    return canonical_url(f"{left}{route}", routed=True)


def _parted(uri: str) -> tuple[str, str, str, str]:
    """Part an address into path, `?`, query and the route behind it; a query within a route is the query."""
    base, sign, route = uri.partition("#")
    if "?" in route:
        at, mark, query = route.partition("?")
        return f"{base}{sign}{at}", mark, query, ""
    return (*base.partition("?"), f"{sign}{route}")


def path_of_variant(uri: str) -> str | None:
    """Return what an address shares with its variants: all before query and session id; None without."""
    path, mark, _, route = _parted(uri)
    plain = _PARAMETER.sub("", path)
    return f"{plain}{route}" if mark or plain != path else None


_BARE = re.compile(r"\d{1,3}")
"""A version where others stand beside it; else the number of an item. Four digits are a year."""

_NUMBER = re.compile(
    r"(?:v|ver|version|release|rel)[-_.]?(?P<prefixed>\d{1,3})"
    r"|(?:(?:v|ver|version|release|rel)[-_.]?)?(?P<dotted>\d+(?:\.(?:\d+|x))+)"
    r"(?P<early>[-_.]?(?:a|b|rc|alpha|beta|dev|pre|preview)[-_.]?\d*)?"
)
"""`v2`, `1.2`, `release-2.0`, `1.x`, `3.0rc1`."""

_PLACES = 8

VersionRank = tuple[int, int, tuple[int, ...]]
"""The lower comes first: settled, released, to come; then by name or not released yet; then the newest."""


def version_rank(folder: str, *, beside_version: bool = False) -> VersionRank | None:
    """Rank a folder by the version that its name says; None where it names none.

    *beside_version*: a folder of the same parent names a version surely, so that a bare number does, too.
    """
    name = unquote(folder).lower()
    if name in SETTLED:
        return 1, SETTLED.index(name), ()
    if name in AHEAD:
        return 3, 0, ()
    if beside_version and _BARE.fullmatch(name):
        return _released(name)
    found = _NUMBER.fullmatch(name)
    return _released(found["prefixed"] or found["dotted"], early=bool(found["early"])) if found else None


def _released(number: str, *, early: bool = False) -> VersionRank:
    # `1.x` is what comes after all of 1.
    parts = [-(10**9) if part == "x" else -int(part) for part in number.split(".")][:_PLACES]
    return 2, early, (*parts, *(0,) * (_PLACES - len(parts)))
