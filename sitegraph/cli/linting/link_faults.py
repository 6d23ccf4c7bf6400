"""What is wrong with the links of a document, by what is known of where they lead."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from ingest.urls import is_file_url
from retrieval.lint.site import FaultyLink, LinkFault
from schemas.edges import LinkPosition
from schemas.fragment import GraphFragment, Link

_NO_ID = re.compile(r"^(?:top|!.*|/.*|.*:~:.*|.*=.*|L\d+(?:-L?\d+)?)?$", re.IGNORECASE)
"""Fragments that are no ids: the top of a page, routes of scripts, text directives, lines of code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What is known of the targets of links.

    `docs` has the documents that addresses lead to, over redirects, too. `missing` says why an address leads
    nowhere, and `moved` where it leads to instead; both are empty where it is as it should be, or unknown.
    `lacks` says of a document whether it surely has no element with an id. `shown` is an address for people.
    """

    docs: Mapping[str, str]
    missing: Callable[[str], str]
    moved: Callable[[str], str]
    lacks: Callable[[str, str], bool]
    shown: Callable[[str], str]


def faulty_links(fragment: GraphFragment, targets: Targets) -> Iterator[FaultyLink]:
    """Yield the links of a document that do not lead where they say, in its order."""
    for link in fragment.links:
        doc = targets.docs.get(link.target)
        if doc is None:
            if why := targets.missing(link.target):
                yield _faulty(fragment, link, LinkFault.MISSING, why, targets)
            continue
        end = targets.moved(link.target)
        if end and is_file_url(link.target):  # nothing redirects from a file that is gone
            why = f"which is not there; what it said is in {end}"
            yield _faulty(fragment, link, LinkFault.MISSING, why, targets)
        elif link.fragment and not _NO_ID.match(link.fragment) and targets.lacks(doc, link.fragment):
            yield _faulty(fragment, link, LinkFault.NO_FRAGMENT, "an id that is not on that page", targets)
        elif end and doc != fragment.doc:
            yield _faulty(fragment, link, LinkFault.REDIRECTED, f"which leads on to {end}", targets)


def in_known_folder(path: str, known: Collection[str]) -> bool:
    """Whether a path is in the top folder of one of *known*: `/usr/share/a.html` on its pages is not.

    Such a link leads to another part of the server that the folder will be put on.
    """
    top, below, _ = path.partition("/")
    return not below or any(one.startswith(f"{top}/") for one in known)


def linked_from(fragment: GraphFragment, docs: Mapping[str, str]) -> Iterator[tuple[str, LinkPosition]]:
    """Yield the other documents that a document links to, and from where on it."""
    for link in fragment.links:
        doc = docs.get(link.target)
        if doc is not None and doc != fragment.doc:
            yield doc, link.position


def _faulty(fragment: GraphFragment, link: Link, fault: LinkFault, why: str, targets: Targets) -> FaultyLink:
    chunk = next((place.chunk for place in link.places), None)
    return FaultyLink(
        doc=fragment.doc,
        target=link.target,
        shown=targets.shown(link.target),
        fault=fault,
        position=link.position,
        text=link.text,
        fragment=link.fragment if fault is LinkFault.NO_FRAGMENT else None,
        chunk=chunk,
        why=why,
    )
