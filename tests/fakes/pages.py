"""Small pages parsed as the flow would parse them, with words for tokens."""

from ingest.parse.document import parse_document
from schemas.fragment import GraphFragment, Link, ParseRequest
from schemas.nodes import Section

URI = "http://docs.example/guide/start.html"


def count_words(text: str) -> int:
    """Tokens of a tokenizer that knows every word."""
    return len(text.split())


def parse_page(body: str | bytes, **known: str) -> GraphFragment:
    """Parse HTML that came from URI, unless *known* says otherwise."""
    request = ParseRequest(**{"uri": URI, "source": "docs", "url": URI, "content_type": "text/html", **known})
    return parse_document(body.encode() if isinstance(body, str) else body, request, count_tokens=count_words)


def parse_file(body: str | bytes, path: str = "notes/plan.md", **known: str) -> GraphFragment:
    """Parse a file of a local source."""
    request = ParseRequest(uri=f"files://notes/{path}", source="notes", path=path, **known)
    return parse_document(body.encode() if isinstance(body, str) else body, request, count_tokens=count_words)


def sections_of(fragment: GraphFragment) -> list[Section]:
    """The sections in reading order."""
    return [node for node in fragment.nodes if isinstance(node, Section)]


def texts_of(fragment: GraphFragment) -> dict[str, str]:
    """Text by heading."""
    return {section.heading: section.text for section in sections_of(fragment)}


def links_of(fragment: GraphFragment) -> dict[str, Link]:
    """Links by their text."""
    return {link.text: link for link in fragment.links}
