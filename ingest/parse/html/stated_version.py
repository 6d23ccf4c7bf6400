"""Of which version of its manual a page says that it is."""

import re

from lxml.html import HtmlElement

from ingest.parse.html.dom import meta_contents, normal_space
from schemas.families import VersionFamily


def stated_version(root: HtmlElement, family: VersionFamily) -> str | None:
    """Return what the `meta` element that the family names says, or its pattern finds in the title.

    The title is that of the head, which names the manual, not the heading of the page. None where the page
    says nothing.
    """
    if family.meta is not None:
        said = (normal_space(text) for text in meta_contents(root, family.meta.lower()))
        return next((text for text in said if text), None)
    if family.title is None:
        return None
    title = normal_space("".join(next(root.iter("title"), HtmlElement()).itertext()))
    found = re.search(family.title, title)
    return (found[1] or None) if found else None
