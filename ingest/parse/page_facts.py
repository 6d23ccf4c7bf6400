"""What is known of a page besides its text."""

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from schemas.dates import Dated
from schemas.fragment import Link, ParseRequest, Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePart:
    """A part of a document that is a Page of its own: a chapter of a book.

    `name` tells it from the others for good, as its path in the archive does; `fragment` opens it, and those
    of all that stands in it begin with `prefix`.
    """

    name: str
    title: str
    fragment: str | None = None
    prefix: str | None = None
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFacts:
    """What a parser knows of a page besides its sections and links.

    `has_search`: a form in its content asks for words to search for. `is_empty`: its main element has none.
    `is_index`: its generator says that it is an index.
    `parts` are in reading order, as their sections count them: the first is that of `page` 1. `access` is
    as in a `GraphFragment`.
    """

    kind: str
    title: str
    template_type: str
    breadcrumbs: tuple[str, ...] = ()
    lang: str | None = None
    modified: Dated | None = None
    doc_id: str | None = None
    references: tuple[Reference, ...] = ()
    names: tuple[str, ...] = ()
    noindex: bool = False
    nofollow: bool = False
    refresh: str | None = None
    canonical: str | None = None
    alternates: tuple[str, ...] = ()
    structure_confidence: float = 1.0
    has_search: bool = False
    is_empty: bool = False
    is_index: bool = False
    warnings: tuple[str, ...] = ()
    access: tuple[str, ...] = ()
    parts: tuple[PagePart, ...] = ()


def file_name(request: ParseRequest) -> str:
    """Return the last name in the path or URL of a document."""
    return _path(request).rstrip("/").rpartition("/")[2] or request.uri


def folders(request: ParseRequest) -> tuple[str, ...]:
    """Return the names above it."""
    return tuple(name for name in _path(request).split("/")[:-1] if name)


def _path(request: ParseRequest) -> str:
    return request.path or unquote(urlsplit(request.uri).path)
