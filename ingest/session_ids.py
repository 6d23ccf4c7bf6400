"""Session ids in addresses: the same page under a new name for every visit."""

import re

from ingest.urls import canonical_url

_NAMES = "sid|s?sessid|sessionid|session_id|phpsessid|jsessionid|aspsessionid[a-z]*|cfid|cftoken|oscsid|zenid"
_KEY = re.compile(rf"(?:{_NAMES})\Z", re.IGNORECASE)
_PARAMETER = re.compile(rf";(?:{_NAMES})=[^/;?]*\Z", re.IGNORECASE)
"""At the end of the path, where servlets write it."""


def without_session(uri: str) -> str | None:
    """Return the address without its session id, canonical as it came; None where it bears none.

    What is left of `/.;sid=1` is a dot segment, and names the folder. Whether the name is that of a session
    is for the content to say: elsewhere `sid` is the number of a story.
    """
    path, mark, query = uri.partition("?")
    pairs = query.split("&")
    kept = [pair for pair in pairs if not _KEY.match(pair.partition("=")[0])]
    plain = _PARAMETER.sub("", path)
    if len(kept) == len(pairs) and plain == path:
        return None
    return canonical_url(f"{plain}{mark}{'&'.join(kept)}" if kept and mark else plain)


def path_of_variant(uri: str) -> str | None:
    """Return what an address shares with its variants: all before query and session id; None without."""
    path, mark, _ = uri.partition("?")
    plain = _PARAMETER.sub("", path)
    return plain if mark or plain != path else None
