"""What a document says robots may do with it, in its head or in the header it came with.

Source: RFC 9110 has no X-Robots-Tag; Google's robots meta tag specification is what sites write to.
"""

from collections.abc import Iterable
from dataclasses import dataclass

_EVERYONE = frozenset({"*", "robots"})
_VALUED = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})
"""Directives with a value after a colon; any other word before one is the name of a robot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsDirectives:
    """`noindex`: no text of it is kept; `nofollow`: its links lead nowhere."""

    noindex: bool = False
    nofollow: bool = False


def read_directives(header: str | None, metas: Iterable[str] = (), *, robot: str) -> RobotsDirectives:
    """Join what X-Robots-Tag says to all robots or to *robot* with the contents of meta elements that do.

    In a header a name holds for what follows it up to the next name or the end of the line: each header
    line speaks for itself. Rules for other robots do not count.
    """
    stated = {word.strip().lower() for content in metas for word in content.split(",")}
    for line in (header or "").lower().splitlines():
        stated |= _for_us(line, robot)
    return RobotsDirectives(
        noindex=not stated.isdisjoint({"noindex", "none"}),
        nofollow=not stated.isdisjoint({"nofollow", "none"}),
    )


def _for_us(line: str, robot: str) -> set[str]:
    stated, for_us = set(), True
    for word in line.split(","):
        agent, colon, directive = (part.strip() for part in word.partition(":"))
        if not colon or agent in _VALUED:
            agent, directive = "", agent
        if agent:
            for_us = agent in _EVERYONE or agent == robot
        if for_us:
            stated.add(directive)
    return stated
