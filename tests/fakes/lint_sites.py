"""Sites as the linter reads them: of a few words, and of parsed pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from ingest.parse.round_trip import names_in
from retrieval.lint.site import LintDocument, LintedSite
from schemas.edges import LinkPosition
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk, Page, PageKind
from sitegraph.actions.lint import Targets, faulty_links, in_known_folder, linked_from
from tests.quality.html_sites import HOST


def document(name: str, **fields: Any) -> LintDocument:
    """Return a page `name.html` of example.org."""
    url = f"https://example.org/{name}.html"
    values: dict[str, Any] = {"title": name.title(), "kind": "html", "url": url, "source": "s", "uri": url}
    return LintDocument(doc=name, **{**values, **fields})


def passage(doc: str, text: str, *, heading: Sequence[str] = (), ordinal: int = 0, **fields: Any) -> Chunk:
    """Return a passage of a page."""
    return Chunk(
        id=f"chunk:{doc}:{ordinal}",
        kind="html",
        source="s",
        doc=doc,
        text=text,
        content_hash="",
        ordinal=ordinal,
        offsets=(0, len(text)),
        token_count=len(text.split()),
        heading_path=tuple(heading),
        **fields,
    )


def site_of_texts(*passages: Chunk, documents: Sequence[LintDocument] = (), **fields: Any) -> LintedSite:
    """Return a site with these passages; a document that is not given is made."""
    known = {one.doc: one for one in documents}
    made = {one.doc: document(one.doc) for one in passages if one.doc not in known}
    return LintedSite(documents=dict(sorted({**made, **known}.items())), passages=passages, **fields)


def site_of_pages(
    name: str, fragments: Mapping[str, GraphFragment], pages: Mapping[str, bytes]
) -> LintedSite:
    """Return the site of parsed pages, by path; what is no page of it and is named as one is missing.

    Of pages with the same bytes the first is the document, as in an index, and the others lead to it.
    """
    first = {data: path for path, data in sorted(pages.items(), reverse=True)}
    docs = {fragment.uri: fragments[first[pages[path]]].doc for path, fragment in fragments.items()}
    fragments = {path: fragment for path, fragment in fragments.items() if first[pages[path]] == path}
    paths = {fragment.doc: path for path, fragment in fragments.items()}
    ids: dict[str, frozenset[str]] = {}

    def lacks(doc: str, fragment: str) -> bool:
        if doc not in ids:
            ids[doc] = names_in(pages[paths[doc]].decode("utf-8", errors="replace"))
        return fragment not in ids[doc]

    def missing(target: str) -> str:
        path = target.removeprefix(HOST)
        ours = path != target and path.endswith(".html") and in_known_folder(path, pages)
        return "which is not there" if ours else ""

    targets = Targets(
        docs=docs,
        missing=missing,
        moved=lambda _target: "",
        lacks=lacks,
        shown=lambda target: target.removeprefix(HOST),
    )
    linked: dict[str, set[LinkPosition]] = {}
    for fragment in fragments.values():
        for doc, position in linked_from(fragment, docs):
            linked.setdefault(doc, set()).add(position)
    return LintedSite(
        documents={
            fragment.doc: LintDocument(
                doc=fragment.doc,
                source=name,
                uri=fragment.uri,
                title=fragment.title,
                kind=fragment.kind or "",
                url=fragment.uri,
                path=path,
                page_kind=_kind(fragment),
                start=path.rpartition("/")[2] == "index.html",
            )
            for path, fragment in sorted(fragments.items())
        },
        passages=tuple(chunk for _, fragment in sorted(fragments.items()) for chunk in fragment.chunks),
        faulty=tuple(link for fragment in fragments.values() for link in faulty_links(fragment, targets)),
        linked_from={doc: frozenset(positions) for doc, positions in sorted(linked.items())},
    )


def _kind(fragment: GraphFragment) -> PageKind:
    page = fragment.nodes[0]
    return page.page_kind if isinstance(page, Page) else PageKind.CONTENT
