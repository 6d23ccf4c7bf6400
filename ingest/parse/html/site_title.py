"""The name of the site over each of its pages, where the page's own title stands below it."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.parse.outline import Heading, Part

_BETWEEN = re.compile(r"\s+(?:[|–—·»-]|::)\s+")
"""What stands between the names of page and site in a title element."""


def find_site_title(parts: Sequence[Part], stated: str) -> Heading | None:
    """The first h1, if *stated*, the title element, ends with it and begins with the heading after it."""
    headings = [part for part in parts if isinstance(part, Heading)][:2]
    names = [name.casefold() for name in _BETWEEN.split(stated)]
    if len(headings) < 2 or len(names) < 2 or headings[0].level != 1:
        return None
    site, page = (heading.text.casefold() for heading in headings)
    return headings[0] if (page, site) == (names[0], names[-1]) else None


def without_site_title(parts: Sequence[Part], stated: str) -> list[Part]:
    """Drop the site's name, and make the heading after it, the page's own, the h1; it takes over the ids.

    Else all pages of a site have one title; and where it has a version, all passages get another heading
    path, and another vector, with each release.
    """
    site = find_site_title(parts, stated)
    if site is None:
        return list(parts)
    left = [part for part in parts if part is not site]
    page = next(part for part in left if isinstance(part, Heading))
    ids = (*filter(None, (site.fragment,)), *site.aliases, *page.aliases)
    return [replace(page, level=1, aliases=ids) if part is page else part for part in left]
