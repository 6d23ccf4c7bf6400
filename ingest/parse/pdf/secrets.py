"""Secrets on the pages of a PDF, where a long one is broken at the ends of lines."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ingest.parse.pdf.lines import Block
from ingest.parse.pdf.page import PageContent
from ingest.parse.secrets import Hiding, find_in_texts
from schemas.secrets import Secret, find_tokens

_BROKEN = 16
"""Signs of the last word of a line that may be the first part of a secret; few words are as long."""


def find_in_pages(pages: Sequence[PageContent], others: Iterable[str]) -> tuple[Secret, ...]:
    """Return the secrets of lines, tables, links and labels, and of *others* that the file says of itself."""
    blocks = [block for page in pages for block in page.blocks]
    texts = [*others, *("\n".join(line.text for line in block) for block in blocks)]
    for page in pages:
        texts.extend("\n".join("\t".join(row) for row in table.rows) for table in page.tables)
        texts.extend(f"{link.text} {link.uri or ''}" for link in page.links)
        texts.append(page.label or "")
    found = find_in_texts(texts)
    broken = (secret for block in blocks for secret in _find_broken(block))
    return tuple(dict.fromkeys((*found, *broken)))


def hide_in_pages(pages: tuple[PageContent, ...], hiding: Hiding) -> tuple[PageContent, ...]:
    """Hide secrets on pages; a link whose address carries one is left out."""
    return tuple(
        hiding.everywhere(
            replace(page, links=tuple(link for link in page.links if not hiding.is_in(link.uri)))
        )
        for page in pages
    )


def _find_broken(block: Block) -> Iterator[Secret]:
    """Yield tokens that show once the lines are put together without a space, as their parts with spaces."""
    text, seams = "", []
    for line in block:
        words = text.rsplit(None, 1)
        if words and not text[-1].isspace() and len(words[-1]) >= _BROKEN:
            seams.append(len(text))
        elif text:
            text += "\n"
        text += line.text.strip()
    for secret in find_tokens(text) if seams else ():
        start = text.index(secret.value)
        inside = [seam - start for seam in seams if start < seam < start + len(secret.value)]
        if inside:
            bounds = zip([0, *inside], [*inside, len(secret.value)], strict=True)
            yield replace(secret, value=" ".join(secret.value[low:high] for low, high in bounds))
