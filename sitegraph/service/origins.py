"""Where a request of a browser comes from; programs say nothing of it, and are believed."""

from collections.abc import Collection, Mapping

from sitegraph.service.problems import HttpProblem

_ELSEWHERE = "requested by a page of another site"


def check_origin(headers: Mapping[str, str], hosts: Collection[str] | None) -> None:
    """Refuse what a page of another site sends; programs send no origin.

    Source: MCP 2026-07-28, Streamable HTTP, "Security": servers must validate the Origin header.
    """
    origin = headers.get("origin")
    if origin is None:
        return
    known = hosts if hosts is not None else {host_name(headers.get("host", ""))}
    if host_name(origin.partition("://")[2]) not in known:
        raise HttpProblem(403, _ELSEWHERE, "WrongOrigin")


def check_site(method: str, headers: Mapping[str, str]) -> None:
    """Refuse what a page of another site has a browser fetch; a link may lead here from anywhere.

    Such a page is not told the answer, but each of its questions would cost work and stand in the usage log.
    Source: W3C Fetch Metadata Request Headers; web.dev, "Protect your resources from web attacks with Fetch
    Metadata" (a resource isolation policy).
    """
    if is_cross_site(headers) and not (method == "GET" and _is_navigation(headers)):
        raise HttpProblem(403, f"{_ELSEWHERE}; without a token, only a link may lead here", "WrongOrigin")


def is_cross_site(headers: Mapping[str, str]) -> bool:
    """Whether a browser says that a page of another site made it ask, by a link or otherwise."""
    return headers.get("sec-fetch-site", "").lower() == "cross-site"


def host_name(host: str) -> str:
    """Return the name of a Host header without its port: `[::1]:8000` is `[::1]`."""
    bracket = host.find("]")
    colon = host.find(":", bracket + 1)
    return (host if colon < 0 else host[:colon]).lower()


def _is_navigation(headers: Mapping[str, str]) -> bool:
    """Whether the answer becomes a page of its own, in no frame."""
    return (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
