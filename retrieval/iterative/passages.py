"""A passage's title, and what its brackets say."""

import re

from schemas.evidence import Evidence

_BRACKETED = re.compile(r"(?P<name>.+?)\s*\((?P<kind>[^()]+)\)\s*")


def title_of(passage: Evidence) -> str:
    """Return the title of the document: its top heading, else where it stands, else its file or address."""
    listed = (*passage.heading_path[:1], *passage.breadcrumbs[-1:], passage.file_path, passage.url)
    return next((one for one in listed if one), passage.doc)


def split_title(title: str) -> tuple[str, str]:
    """Return "Mercury" and "planet" of "Mercury (planet)"; the second is empty without brackets."""
    match = _BRACKETED.fullmatch(title)
    return (match["name"], match["kind"]) if match else (title, "")
