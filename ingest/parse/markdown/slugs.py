"""Heading > the fragment a Markdown host gives it."""

import re
from collections import Counter

_EXPLICIT = re.compile(r"\s*\{:?\s*(?:[.][\w-]+\s+)*#([^\s{}#]+)(?:\s+[^{}]*)?\}\s*$")
_DROPPED = re.compile(r"[^\w\- ]")


def split_explicit_id(heading: str) -> tuple[str, str | None]:
    """Cut `{#id}` off the end of a heading."""
    match = _EXPLICIT.search(heading)
    return (heading, None) if match is None else (heading[: match.start()].rstrip(), match[1])


class Slugs:
    """Fragments of one document, in reading order."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def of(self, heading: str, explicit: str | None = None) -> str | None:
        """Return the explicit id, else the slug; the second of equals gets `-1`. None if no letter is left.

        Source: GitHub: lower case, characters but letters, digits, `_` and `-` dropped, spaces to hyphens.
        """
        if explicit is not None:
            self._seen[explicit] += 1
            return explicit
        slug = _DROPPED.sub("", heading.strip().lower()).replace(" ", "-")
        if not slug:
            return None
        number = self._seen[slug]
        self._seen[slug] += 1
        if not number:
            return slug
        numbered = f"{slug}-{number}"
        self._seen[numbered] += 1
        return numbered
