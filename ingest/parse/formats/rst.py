"""reStructuredText: rendered as HTML by docutils, which may read no file and pass no markup through."""

from ingest.parse.formats.sniffing import is_binary, is_prose, is_whole_page
from ingest.parse.secrets import find_in_source
from schemas.errors import ParseError
from schemas.formats import DocumentFormat, ParseTools, media_type
from schemas.fragment import GraphFragment, ParseRequest

_TYPES = ("text/x-rst", "text/prs.fallenstein.rst", "text/restructuredtext")

_SETTINGS = {
    # https://docutils.sourceforge.io/docs/howto/security.html: the three that shut a document in.
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "embed_stylesheet": False,
    "stylesheet_path": "",
    "syntax_highlight": "none",
    "math_output": "LaTeX",
    "line_length_limit": 100_000,
    "report_level": 5,
    "halt_level": 6,
    "warning_stream": False,
    "datestamp": None,
    "generator": False,
    "traceback": True,
    "toc_backlinks": False,
    # A single title stays a section like any other, with its id, above those of the second level.
    "doctitle_xform": False,
    "initial_header_level": 1,
}
_LEFT_OUT = frozenset({"contents", "system-message", "toc-backref"})
"""Classes of what docutils adds to a text: its table of contents, and its complaints."""
_CODE = frozenset({"code", "literal-block"})
"""Classes of highlighted code, beside its language."""


def _recognise(head: bytes, content_type: str, name: str) -> bool:
    is_named = name.endswith(".rst") or media_type(content_type) in _TYPES
    is_text = is_prose(head, content_type) and not is_whole_page(head) and not is_binary(head)
    return is_named and is_text


def _parse(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.formats.converted import SECTIONED, assemble_document, read_tree
    from ingest.parse.html.charset import decode_html
    from ingest.parse.html.dom import parse_tree
    from ingest.parse.html.visibility import strip_invisible

    text = strip_invisible(decode_html(data, request.content_type))
    tree = parse_tree(_to_html(text, request.uri), subject=request.uri)
    for element in list(tree.iter()):
        names = (element.get("class") or "").split()
        if not _LEFT_OUT.isdisjoint(names):
            element.drop_tree()
        elif element.tag == "pre" and set(names) >= _CODE:
            language = next((name for name in names if name not in _CODE), "text")
            element.set("class", f"language-{language}")
    body = read_tree(tree, shape=SECTIONED)
    return assemble_document(
        body.parts, body.links, request=request, kind=FORMAT.name, count_tokens=tools.count_tokens
    )


def _to_html(text: str, subject: str) -> str:
    from docutils.core import publish_parts
    from docutils.utils import SystemMessage

    from ingest.parse.formats.rst_sphinx import register_sphinx

    register_sphinx()
    try:
        made = publish_parts(text, writer="html5", settings_overrides=_SETTINGS)
    except (SystemMessage, RecursionError, ValueError, AttributeError, IndexError) as error:
        why = f"{type(error).__name__}: {error}"[:200]
        raise ParseError(f"docutils cannot read it ({why})", subject=subject) from error
    return f"<html><body>{made['html_body']}</body></html>"


FORMAT = DocumentFormat(
    name="rst",
    version="1",
    parse=_parse,
    recognise=_recognise,
    suffixes=(".rst",),
    media_types=_TYPES,
    shared_types=("text/plain",),
    is_text=True,
    unread_secrets=find_in_source,
)
