"""Jupyter notebooks: Markdown as Markdown, code as code, and of what the code printed the beginning."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from typing import Any

from ingest.parse.access import keys_name_access, lists_name_access, names_access_at_top
from ingest.parse.formats.sniffing import is_binary
from ingest.parse.secrets import kinds_of
from schemas.errors import ParseError
from schemas.formats import DocumentFormat, ParseTools, SizeClass, media_type
from schemas.fragment import GraphFragment, ParseRequest
from schemas.redaction import secrets_of
from schemas.text import whole_text

MAX_OUTPUT_LINES = 20
MAX_OUTPUT = 1_000
"""Lines and characters kept of what one cell printed; the rest of a training log tells nothing more."""

_TYPE = "application/x-ipynb+json"
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OPTION = re.compile(r"^#\|(.*)", re.MULTILINE)


def _recognise(head: bytes, content_type: str, name: str) -> bool:
    is_named = name.endswith(".ipynb") or media_type(content_type) == _TYPE
    return is_named and (head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") or is_binary(head))


def _parse(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.html.whole import assemble_document
    from ingest.parse.links import FoundLink
    from ingest.parse.markdown.page import read_markdown
    from ingest.parse.outline import Block, BoxEnd, BoxStart, Heading, Part

    notebook = _read(data, request.uri)
    language = _language(notebook)
    parts: list[Part] = []
    links: list[FoundLink] = []
    anchors: set[str] = set()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            read = read_markdown(_text(cell.source))
            links += read.links
            for part in read.parts:
                parts.append(_anchored(part, anchors) if isinstance(part, Heading) else part)
        elif cell.cell_type == "code":
            parts.append(Block(text=_text(cell.source).strip("\n"), solid=True, language=language))
            if printed := shorten("\n".join(_printed(cell))):
                parts.append(Block(text=f"Output:\n{printed}", solid=True))
            for written in filter(None, map(_markdown_of, cell.outputs)):
                read = read_markdown(shorten(written))
                links += read.links
                parts += (BoxStart(), *read.parts, BoxEnd())
    return assemble_document(
        tuple(part for part in parts if not isinstance(part, Block) or part.text.strip()),
        tuple(links),
        request=request,
        kind=FORMAT.name,
        title=_text(notebook.metadata.get("title")),
        count_tokens=tools.count_tokens,
    )


def _read(data: bytes, subject: str) -> Any:
    """Read a notebook of any version as one of version 4. Raises: ParseError: it is none."""
    import nbformat

    try:
        notebook: Any = nbformat.reads(data.decode("utf-8-sig"), as_version=4)  # type: ignore[no-untyped-call]
        nbformat.validate(notebook)
    except (
        nbformat.ValidationError,
        AttributeError,
        KeyError,
        TypeError,
        ValueError,
        RecursionError,
    ) as error:
        first = str(error).strip().partition("\n")[0][:200]
        raise ParseError(f"no notebook: {type(error).__name__} ({first})", subject=subject) from error
    return notebook


def _anchored(heading: Any, taken: set[str]) -> Any:
    """Give a heading the id that Jupyter shows it under, its text with hyphens; of equals only the first."""
    name = re.sub(r"\s", "-", heading.text)
    fragment = None if name in taken else name
    taken.add(name)
    return replace(heading, fragment=fragment)


def _language(notebook: Any) -> str | None:
    told = notebook.metadata
    name = (told.get("language_info") or {}).get("name") or (told.get("kernelspec") or {}).get("language")
    return name.lower() if isinstance(name, str) and name else None


def _printed(cell: Any) -> Iterator[str]:
    """Texts that a cell gave: streams, results without a picture, and the last line of an error."""
    for output in cell.outputs:
        if output.output_type == "stream":
            yield _text(output.text)
        elif output.output_type == "error":
            yield _text(f"{output.ename}: {output.evalue}")
        elif _text(output.data.get("text/latex")):
            yield _text(output.data["text/latex"]).strip().strip("$").strip()
        elif not _markdown_of(output) and not any(kind.startswith("image/") for kind in output.data):
            yield _text(output.data.get("text/plain"))


def _markdown_of(output: Any) -> str:
    """What a cell gave as Markdown, which is read as that."""
    return _text((output.get("data") or {}).get("text/markdown"))


def shorten(printed: str) -> str:
    """Return the beginning of what was printed, without colours, and how much is missing."""
    lines = [line.rstrip() for line in _ANSI.sub("", printed).strip().splitlines()]
    whole = "\n".join(lines)
    kept = "\n".join(lines[:MAX_OUTPUT_LINES])[:MAX_OUTPUT]
    return kept if kept == whole else f"{kept}\n[… {len(whole) - len(kept)} more characters]"


def _text(value: object) -> str:
    """A text, which a notebook may keep as a list of lines."""
    if isinstance(value, list):
        value = "".join(part for part in value if isinstance(part, str))
    return whole_text(value) if isinstance(value, str) else ""


def _unread_secrets(data: bytes) -> tuple[str, ...]:
    """Outputs are cut, metadata and raw cells are not read; all of them are kept with the file."""
    return kinds_of(secrets_of("\n\n".join(_strings(json.loads(data.decode("utf-8-sig"))))))


def _names_access(data: bytes, _content_type: str | None) -> bool:
    """Whether metadata of the notebook or of a cell do, options of a cell, or what is above all code."""
    notebook = _read(data, "")
    metadata = (notebook.metadata, *(cell.metadata for cell in notebook.cells))
    options = _OPTION.findall("\n".join(_text(cell.source) for cell in notebook.cells))
    above = takewhile(lambda cell: cell.cell_type != "code", notebook.cells)
    return (
        any(map(keys_name_access, metadata))
        or any(map(lists_name_access, options))
        or names_access_at_top("\n\n".join(_text(cell.source) for cell in above))
    )


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and all(isinstance(part, str) for part in value):
        yield "".join(value)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)
    elif isinstance(value, dict):
        for name, part in value.items():
            if not name.startswith("image/"):
                yield from _strings(part)


FORMAT = DocumentFormat(
    name="notebook",
    version="1",
    parse=_parse,
    recognise=_recognise,
    suffixes=(".ipynb",),
    media_types=(_TYPE,),
    shared_types=("application/json", "text/plain"),
    size=SizeClass.FILE,
    unread_secrets=_unread_secrets,
    names_access=_names_access,
    end=b"}",
)
