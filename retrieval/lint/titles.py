"""Pages that do not say what they are."""

from collections.abc import Iterator

from retrieval.lint.findings import LintFinding, Severity
from retrieval.lint.site import LintedSite
from schemas.nodes import PageKind


def missing_titles(site: LintedSite) -> Iterator[LintFinding]:
    """Find documents of content without a title and without a heading."""
    headed = {one.doc for one in site.passages if one.heading_path}
    read = {one.doc for one in site.passages}
    for one in site.documents.values():
        if (
            one.page_kind is PageKind.CONTENT
            and one.doc in read - headed
            and _is_untitled(one.title, one.uri)
        ):
            yield LintFinding(
                rule="missing-title",
                severity=Severity.WARNING,
                message=f"{one.name} has neither a title nor a heading",
                places=(one.place,),
                key=(one.source, one.uri),
            )


def _is_untitled(title: str, uri: str) -> bool:
    """Whether a title is empty, or only the name of the file."""
    name = uri.rstrip("/").rpartition("/")[2]
    return not title.strip() or title in (name, name.rpartition(".")[0], uri)
