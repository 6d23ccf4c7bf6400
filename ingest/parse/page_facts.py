"""What is known of a page besides its text."""

from dataclasses import dataclass

from schemas.fragment import Reference
from schemas.nodes import DocumentKind


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFacts:
    """What a parser knows of a page besides its sections and links."""

    kind: DocumentKind
    title: str
    template_type: str
    breadcrumbs: tuple[str, ...] = ()
    lang: str | None = None
    doc_id: str | None = None
    references: tuple[Reference, ...] = ()
    names: tuple[str, ...] = ()
    noindex: bool = False
    nofollow: bool = False
    refresh: str | None = None
    canonical: str | None = None
    alternates: tuple[str, ...] = ()
    structure_confidence: float = 1.0
    warnings: tuple[str, ...] = ()
