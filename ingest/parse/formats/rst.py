"""reStructuredText: rendered as HTML by docutils, which may read no file and pass no markup through."""

import re

from ingest.parse.formats.sniffing import is_binary, is_prose, is_whole_page
from ingest.parse.secrets import find_in_source
from schemas.errors import ParseError
from schemas.formats import DocumentFormat, ParseTools, media_type
from schemas.fragment import GraphFragment, ParseRequest

MAX_MARKS = 3_000
"""Marks of inline markup in a paragraph, the end of each of which is looked for in the rest of it."""

MAX_SUBSTITUTED = 100_000
"""Characters that all references to substitutions of a document stand for; docutils ends a line there."""

MAX_DEPTH = 50
_MARK = re.compile(r"(?<![^\s(\[{'\"<])[|*`_]{1,2}(?=[^\s|*`_])|\w_(?!\w)")
_PARAGRAPH_END = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\.\.|\d+\.|:\w)\s)")
_SUBSTITUTION = re.compile(r"^[ \t]*\.\. +\|([^|\n]+)\|\s+replace::(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_REFERENCE = re.compile(r"\|(?=\S)([^|\n]*[^|\s])\|")

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
    from ingest.parse.formats.rst_sphinx import TAKEN_IN
    from ingest.parse.html.dom import parse_tree
    from ingest.parse.html.whole import SECTIONED, assemble_document, decode_text, read_tree, say_missing

    text = decode_text(data, request)
    if _takes_too_long(text):
        return _as_text(text, request, tools)
    tree = parse_tree(_to_html(text, request.uri), subject=request.uri)
    missing = []
    for element in list(tree.iter()):
        names = (element.get("class") or "").split()
        if TAKEN_IN in names:
            missing.append(element.text or "")
            element.drop_tree()
        elif not _LEFT_OUT.isdisjoint(names):
            element.drop_tree()
        elif element.tag == "pre" and set(names) >= _CODE:
            language = next((name for name in names if name not in _CODE), "text")
            element.set("class", f"language-{language}")
    body = read_tree(tree, shape=SECTIONED)
    return assemble_document(
        body.parts,
        body.links,
        request=request,
        kind=FORMAT.name,
        warnings=tuple(say_missing(missing)),
        count_tokens=tools.count_tokens,
    )


def _takes_too_long(text: str) -> bool:
    """Whether docutils would go through all of a paragraph again for each of very many marks, or a few
    substitutions stand for very much text.
    """
    marks = (len(_MARK.findall(part)) for part in _PARAGRAPH_END.split(text))
    if max(marks, default=0) > MAX_MARKS:
        return True
    said = {_name(name): " ".join(meant.split()) for name, meant in _SUBSTITUTION.findall(text)}
    sizes: dict[str, int] = {}

    def size(name: str, depth: int = 0) -> int:
        if name not in said or depth > MAX_DEPTH:
            return 0 if depth <= MAX_DEPTH else MAX_SUBSTITUTED
        if name not in sizes:
            sizes[name] = MAX_SUBSTITUTED  # where it leads back to itself
            inner = sum(size(_name(one), depth + 1) for one in _REFERENCE.findall(said[name]))
            sizes[name] = min(MAX_SUBSTITUTED, len(said[name]) + inner)
        return sizes[name]

    return sum(size(_name(one)) for one in _REFERENCE.findall(text)) > MAX_SUBSTITUTED


def _name(name: str) -> str:
    return " ".join(name.lower().split())


def _as_text(text: str, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.html.whole import assemble_document
    from ingest.parse.outline import Block

    return assemble_document(
        (Block(text=text.replace("\r\n", "\n").strip()),),
        (),
        request=request,
        kind=FORMAT.name,
        warnings=("read as plain text: its inline marks or substitutions would take too long to read",),
        count_tokens=tools.count_tokens,
    )


def _to_html(text: str, subject: str) -> str:
    from docutils.core import publish_parts

    from ingest.parse.formats.rst_sphinx import quoting_writer, register_sphinx

    register_sphinx()
    try:
        made = publish_parts(text, writer=quoting_writer(), settings_overrides=_SETTINGS)
    except MemoryError:
        raise
    except Exception as error:  # whatever docutils meets in a text that it did not expect
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
