"""Globs of a scope that nothing can ever match: mistakes, told before anything is crawled."""

import re
from collections.abc import Collection

from ingest.urls import canonical_url

_SCHEMES = ("http://", "https://")
_CLASS = re.compile(r"\[!?\]?[^\]]*\]")
_SIGN = re.compile(r"\[([*?[])\]")
"""A sign that stands for itself (fnmatch)."""

_IPV6 = re.compile(r"(https?://)\[(?=[0-9a-f:.]*:[0-9a-f:.]*\])", re.IGNORECASE)
_NEVER = re.compile(r"[^\x21-\x7e]|#")
"""What no canonical address has: it is escaped there, or cut off."""


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
    meant = canonical_url(known)
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
