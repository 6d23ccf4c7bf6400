"""Headers for a login: they go to the site they are for, and nowhere else.

Source: RFC 9110, 5.1 and 5.5 (names, values); RFC 6750, 2.1 (bearer tokens).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ingest.urls import owned_site

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_OURS = frozenset(
    {
        *("host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer"),
        *("upgrade", "expect", "proxy-authorization", "proxy-connection"),
        *("user-agent", "accept", "accept-encoding", "range"),
        *("if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"),
    }
)
"""Headers that frame the request, steer the connection or decide what a 304 means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Header fields for the owners of some seeds; `repr` shows no value.

    `sites` are pairs of scheme and site, the site as `owned_site` names it.
    """

    sites: frozenset[tuple[str, str]] = frozenset()
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def headers_for(self, url: str) -> tuple[tuple[bytes, bytes], ...]:
        """Return what a request for *url* (canonical) carries: nothing outside the seeds' own sites.

        What a seed reaches over https is never sent in the clear.
        """
        if not self.sites:
            return ()  # naming a site would load the list of public suffixes for nothing
        scheme, site = _place(url)
        if not {(scheme, site), ("http", site)} & self.sites:
            return ()
        return tuple((name.encode(), value.encode()) for name, value in self.headers)


def build_credentials(headers: Mapping[str, str], *, seeds: Sequence[str]) -> Credentials:
    """Return the credentials of a source; *headers* have passed `name_refusal` and `is_sendable`."""
    return Credentials(sites=frozenset(map(_place, seeds)), headers=tuple(sorted(headers.items())))


def name_refusal(name: str) -> str | None:
    """Say why a source may not set this header; None when it may."""
    if not _NAME.fullmatch(name):
        return "is not the name of a header"
    if name.lower() == "cookie":
        return "cookies are not sent; use a token"
    return "is set by sitegraph itself" if name.lower() in _OURS else None


def is_sendable(value: str) -> bool:
    """Whether *value* is visible ASCII with spaces inside at most; a line end would begin another header."""
    return _VALUE.fullmatch(value) is not None


def _place(url: str) -> tuple[str, str]:
    return url.partition("://")[0], owned_site(url)
