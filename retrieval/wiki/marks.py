"""Writes on pages what was found of them, so that whoever opens one sees whether to trust it."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from retrieval.wiki.page import PageProblem, PageStatus, WikiPage
from retrieval.wiki.store import Wiki
from retrieval.wiki.trust import Trust
from schemas.errors import ConfigError, ParseError, StoreUnavailable


def mark_pages(
    wiki: Wiki, pages: Collection[WikiPage], trust: Mapping[str, Trust], *, now: str
) -> tuple[PageProblem, ...]:
    """Write status and contradictions on the pages whose are others now; no other byte of them changes.

    A page that somebody saved meanwhile is left for the next time. A wiki that cannot be written to is a
    problem of each such page and fails nothing: what was found stands in the answer too.
    """
    problems: list[PageProblem] = []
    for page in pages:
        marked = marked_page(page, trust[page.ref], now=now)
        if marked is page:
            continue
        try:
            wiki.revise(page, marked)
        except StoreUnavailable as error:
            message = f"is {marked.status.value}, which cannot be written to it: {error.message}"
            problems.append(PageProblem(path=f"{page.ref}.md", message=message))
        except (ConfigError, ParseError):  # removed or half saved since it was listed
            continue
    return tuple(problems)


def marked_page(page: WikiPage, trust: Trust, *, now: str) -> WikiPage:
    """Return *page* with what was found of it; the very same where that stands on it already."""
    if trust.unread and trust.status is PageStatus.CURRENT and page.status is PageStatus.STALE:
        return page  # nothing tells that what made it stale is gone
    flags = page.contradictions if trust.status is PageStatus.STALE else trust.contradictions
    if (page.status, page.contradictions) == (trust.status, flags):
        return page
    since = page.status_since if page.status is trust.status else now
    return replace(page, status=trust.status, status_since=since, contradictions=flags)
