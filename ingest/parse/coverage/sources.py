"""What a reader sees of files that a program sets: their source without its marks, by no rule of a parser.

What is not closed goes on to the end, and what looks ahead does so for a bounded way: no text takes long.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ingest.parse.coverage.files import compile_marks, read_text, unmarked, without_marks
from ingest.parse.formats.openapi import load_api
from ingest.parse.formats.roff import sign_of
from ingest.parse.formats.sniffing import unpack_text
from ingest.parse.html.charset import decode_html
from ingest.parse.html.visibility import word_set
from ingest.parse.tools.description import as_mapping
from ingest.parse.tools.lists import Resolver
from schemas.errors import ParseError
from schemas.fragment import ParseRequest

REFERENCE = "name of a text that stands elsewhere"
ARGUMENT = "argument of a directive"

_ADOC_CODE = re.compile(
    r"^(?P<mark>-{4,}|\.{4,}|`{3,})[^\n]*\n(?P<block>.*?)(?:^(?P=mark)[ \t]*$|\Z)"
    r"|`\+(?P<span>[^\n]{1,300}?)\+`",
    re.DOTALL | re.MULTILINE,
)
_ADOC_FENCE = re.compile(r"([-.`=~^+])\1{3,}")
_ADOC_MACROS = "link|xref|https?|ftp|irc|mailto|footnote|footnoteref|kbd|btn|stem|pass|latexmath|asciimath"
_ADOC_MARKS = compile_marks(
    (r"^(/{4,})[ \t]*\n.*?(?:^\1[ \t]*$|\Z)", ""),
    (r"^//(?!/)[^\n]*$|^_{4,}$|</?(?:div|span|p|a|br|table|tr|td|img)\b[^<>\n]{0,300}>", ""),
    (r"^:!?\w[\w-]*!?:(?:[^\n]*\\\n)*[^\n]*$", ""),
    (r"^(?:include|endif|ifeval|toc|video|audio)::[^\n]*$", ""),
    (r"^ifn?def::[^\[\n]*\[([^\n]*?)\]$", r"\1"),
    (r"^\[(?:quote|verse)((?:,[^\n]*)?)\]$", r"\1"),
    (r"^\[[^\n]*\][ \t]*$", ""),
    (r"\(\(\([^()]{1,300}\)\)\)|(?:indexterm|anchor):[^\[\s]*\[[^\]]{0,300}\]", ""),
    (r"(?<!\[)\[\[[\w:.-]+(?:,[^\]\n]*)?\]\]", ""),
    (r"(?<!\w)\[[^\[\]\n]*\](?=[#*_`^~])", ""),
    (r"<<[^,<>\n]*,([^<>]{0,500})>>", r" \1 "),
    (r"\b(?:link|xref):([^\s\[]+)\[\]", r"\1"),
    (r"\b(?:image|icon)::?[^\s\[]*\[([^\],\n]*)[^\]\n]*\]", r"\1"),
    (r",\s*(?:window|role|opts|options|title|id|rel|subs|xrefstyle)=[^\],\n]*", ""),
    (rf"\b(?:{_ADOC_MACROS}):[^\s\[\]<>]{{0,300}}\[([^\]]{{0,500}})\]", r"\1"),
    (r"(?<!\S)(?:\d*(?:\.\d+)?[*+])?(?:[<^>]?(?:\.[<^>])?)[adehlmsv]?(?=\|)", ""),
    (r"^[ \t]*(?:\d+|[a-zA-Z]|[ivx]+)[.)][ \t]", ""),
    (r"(?<=\w)\*\*|\*\*(?=\w)|(?<=\w)__|__(?=\w)|``|##", ""),
    (r"(?<![\w\\])_(?=\S)([^\n]{1,500}?)(?<=\S)_(?!\w)", r"\1"),
    (r"([~^])(\S{1,100}?)\1", r"\2"),
)

_RST_CODE = re.compile(
    r"^[ \t]*\.\. (?:code|code-block|sourcecode)::[^\n]*\n(?:[ \t]+:[^\n]*\n)*(?:[ \t]*\n)+"
    r"(?P<block>(?P<in>[ \t]+)[^\n]*(?:\n(?:(?P=in)[^\n]*|[ \t]*$))*)|``(?P<span>.+?)``",
    re.MULTILINE,
)
_RST_BLOCKS = compile_marks(
    (r"^[ \t]*\.\. _[^\n]*:[^\n]*(?:\n[ \t]+https?:\S+)*$|^[ \t]*__ [^\n]*$", ""),
    (r"^([ \t]*)\.\. \|[^|\n]+\| [^\n]*(?:\n\1[ \t]+\S[^\n]*)*", ""),
    (r"^([ \t]*)\.\. (?:toctree|index|raw|contents|autosummary|include|bibliography)::[^\n]*"
     r"(?:\n(?:\1[ \t]+[^\n]*|[ \t]*$))*", ""),
    (r"^([ \t]*)\.\.(?:[ \t]+(?![\[|]|[\w:.+-]+::)[^\n]*|(?=\n\1[ \t]+\S))"
     r"(?:\n(?:\1[ \t]+[^\n]*|[ \t]*$))*", ""),
)  # fmt: skip
_RST_MARKS = compile_marks(
    (r"(?<=[`|\]])__?(?!\w)|(?<!\w)_(?=`)|\[(?:#[\w.-]*|\*)\]_?", ""),
    (r"^([ \t]*)\.\. [\w:.+-]+::([^\n]*(?:\n\1[ \t]+(?!:)\S[^\n]*)*)(?:\n[ \t]+:[\w-]+:[^\n]*)*", r"\2"),
    (r":(?:[\w+.-]+:)+(?=`)", ""),
    (r"`[~!]+(?:[\w.]*\.)?", "`"),
    (r"\s{0,9}(?<!`)<[^<>`]{0,500}>`", "`"),
    (r"[`*]*\\\s[`*]*", "\u00ad"),
    (r"^[ \t]*(?:[a-zA-Z#]|\d+|[ivx]+)[.)][ \t]", ""),
    (r"(?<![\w`])([^\W_]{1,60}(?:[-_.+][^\W_]{1,60}){0,9})__?(?![\w<*(`])", r"\1"),
)  # fmt: skip

_RST_ARGUMENT = re.compile(
    r"^[ \t]*\.\. (?:[\w-]+:)?(?:code|code-block|sourcecode|highlight|image|figure|literalinclude|only|"
    r"ifconfig|module|currentmodule|default-domain|role|default-role|class|rst-class|container|sectionauthor|"
    r"codeauthor|meta|testsetup|testcode|testoutput|doctest|plot|graphviz|tabularcolumns)::([^\n]*)"
    r"|^[ \t]+:[\w-]+:([^\n]*)",
    re.MULTILINE,
)

_ROFF_MARKS = compile_marks(
    (r"(?<!\\)((?:\\\\)*)\\\n", r"\1"),
    (r"""(?:^[.']|(?<!\\))((?:\\\\)*)\\["#][^\n]*$""", r"\1"),
    (r"^[.'][ \t]*(?:de1?|am1?|ig)\b[ \t]*(?:\S+[ \t]*(\S+)?)?\n.*?(?:^[.'][ \t]*(?:\1|\.)[ \t]*$|\Z)", ""),
    (r"^\.(?:TS|T&)[ \t]*\n(?:[^\n]*;[ \t]*\n)?[^\n]*?(?:\n[^\n]*?)*?(?:\.[ \t]*$|\Z)", ""),
    (r"^T\}|T\{$", ""),
)
_ROFF_REQUEST = re.compile(r"[.'][ \t]*(\S+)[ \t]*(.*)")
_CONDITIONS = 9
"""Conditions before a request, each in the one before it."""

_ROFF_UNREAD = re.compile(
    r"(?!if$|ie$|el$)[a-z].*|PD|AT|UC|DT|IX|Os|Sm|[BE]k|Tg|R[seSE]|YS|[BE][ld]|T[PQSE]|HP|L?PP?|V[be]|E[XE]|"
    r"(?:UN)?INDENT|\W+"
)
_ROFF_ESCAPES = compile_marks(
    (
        r"\\[fFmMgkVYn][+-]?(?:\[[^\]]{0,99}\]|\(..|.)|\\s[+-]?(?:\[[^\]]{0,99}\]|\(..|'[^']{0,99}'|[1-3]\d|\d)",
        "",
    ),
    (r"\\[hvwlLDHSxXZbBAR]'[^']{0,99}'|\\[&|^%:/,{}!)udr]", ""),
    (r"\\c$|\\\*(?:\[[^\]]{0,99}\]|\(..|.)", "\u00ad"),
    (r"\\[eEt]|\$Mdocdate:", " "),
)
_ROFF_SIGN = re.compile(r"\\(?:\((..)|\[([^\]]{0,99})\])")
_ROFF_ARGUMENT = re.compile(r'"(?:[^"]|"")*"?|(?:\\.|\S)+')
_MDOC_NAMES = compile_marks(
    (r"(?<!\S)(?!Ns|Ap|Pf)[A-Z][a-z]{1,2}(?!\S)", ""), (r"(?:^|\s+)(?:Ns|Ap|Pf)\b\s*", "\u00ad")
)
_INFO_MARKS = compile_marks(
    (r"\A\s*File: [^\n]*\n", ""),
    (r"\x08\[(?:image|index)[^\x08]*\x08\]", ""),
    (r"^\* Menu:[ \t]*$", ""),
    (r"^(\* [^:\n]+):[ \t]+[^.,\n]+[.,](?=\s|$)", r"\1"),
    (r"\*[Nn]ote\s+([^:]{1,200}):(?::|\s+(?:\([^)]*\))?[^.,:]{1,200}(?=[.,]))", r"\1"),
)


def asciidoc_words(data: bytes, request: ParseRequest) -> str:
    """Return the text of AsciiDoc without comments, attributes, marks and addresses."""
    lines = read_text(data, request).replace("\r\n", "\n").split("\n")
    return without_marks("\n".join(_without_rules(lines)), _ADOC_CODE, _ADOC_MARKS)


def _without_rules(lines: list[str]) -> Iterator[str]:
    """Yield lines without those below titles, which look as if a listing began."""
    fence = before = ""
    for line in lines:
        is_fence = _ADOC_FENCE.fullmatch(line) is not None
        may_end_title = is_fence and not fence and abs(len(line) - len(before)) <= 1
        is_rule = may_end_title and re.match(r"(?![.\[]).*\w", before) is not None
        if fence:
            fence = "" if line == fence else fence
        elif is_fence and not is_rule:
            fence = line
        before = "" if is_rule else line
        yield before


def asciidoc_apart(data: bytes, request: ParseRequest) -> Iterator[tuple[str, str]]:
    """Yield the names in place of which a document has a text."""
    yield REFERENCE, "\n".join(re.findall(r"\{[\w-]+\}|<<[^<>]{1,300}>>", read_text(data, request)))


def rst_words(data: bytes, request: ParseRequest) -> str:
    """Return the text of reStructuredText without comments, names of directives and roles, and targets."""
    text = read_text(data, request).replace("\r\n", "\n").replace("\f", " ").expandtabs()
    text = unmarked(text, _RST_BLOCKS)
    return without_marks(text, _RST_CODE, _RST_MARKS)


def rst_apart(data: bytes, request: ParseRequest) -> Iterator[tuple[str, str]]:
    """Yield what a directive is told, and names in place of which a document has a text."""
    text = read_text(data, request)
    yield ARGUMENT, "\n".join(map("".join, _RST_ARGUMENT.findall(text)))
    yield REFERENCE, "\n".join(re.findall(r"\|[^|\n]+\|", text))


def man_words(data: bytes, request: ParseRequest) -> str:
    """Return the text of a manual page without requests, names of macros and escapes."""
    lines = unmarked(_roff_text(data, request), _ROFF_MARKS).splitlines()
    return "\n".join(map(_roff_line, lines)).replace("\u00ad\n", "\u00ad")


def info_words(data: bytes, request: ParseRequest) -> str:
    """Return the text of the nodes of an Info file, but for indexes, without the nodes that links lead to."""
    pieces = _roff_text(data, request).split("\x1f")
    nodes = [one for one in pieces if one.lstrip().startswith("File: ")] or pieces[:1]
    return "\n".join(unmarked(node, _INFO_MARKS) for node in nodes if "\b[index" not in node)


def _roff_text(data: bytes, request: ParseRequest) -> str:
    text = decode_html(unpack_text(data, subject=request.uri), request.content_type)
    return text.replace("\r\n", "\n")


def _roff_line(line: str) -> str:
    for _ in range(_CONDITIONS):
        found = _ROFF_REQUEST.match(line)
        if found is None or found[1] not in ("if", "ie", "el"):
            break
        line = (found[2] if found[1] == "el" else found[2].partition(" ")[2]).lstrip()
        line = line.removeprefix("\\{").lstrip()
    if found is None:
        return _shown(line)
    name, rest = found.groups()
    if _ROFF_UNREAD.fullmatch(name):
        return ""
    if re.fullmatch("[BIRS]{2}", name):
        rest = "\u00ad".join(word.strip('"') for word in _ROFF_ARGUMENT.findall(rest))
    elif name == "IP":
        rest = re.sub(r"[ \t]+[\d.]+[a-z]?$", "", rest)
    return _shown(unmarked(rest, _MDOC_NAMES) if name[1:].islower() or name == "D1" else rest)


def _shown(text: str) -> str:
    return _ROFF_SIGN.sub(lambda sign: sign_of(sign[1] or sign[2]), unmarked(text, _ROFF_ESCAPES))


_API_UNREAD = word_set(
    "example examples externalDocs contact license termsOfService callbacks links required xml scopes "
    "variables"
)
_API_NAMES = word_set("properties paths webhooks responses content securitySchemes headers")
_API_PROSE = word_set("description summary")
_API_SAID = word_set("name operationId tags in enum default url host version") | {""}


def openapi_words(data: bytes, _request: ParseRequest) -> str:
    """Return what an API says of itself and its operations, and each schema that these lead to, once."""
    tree = load_api(data)
    secured = tree.get("securityDefinitions") or as_mapping(tree.get("components"), "").get("securitySchemes")
    start = {key: tree.get(key) for key in ("info", "host", "servers", "tags", "paths", "webhooks")}
    return "\n".join(_api_texts(tree, {**start, "securitySchemes": secured}))


def _api_texts(tree: Mapping[str, Any], start: Any) -> Iterator[str]:
    waiting: deque[tuple[str, Any]] = deque([("", start)])
    resolver, met, last = Resolver(tree), set[Any](), ""
    while waiting:
        key, value = waiting.popleft()
        if isinstance(value, dict) and isinstance(reference := value.get("$ref"), str):
            if reference.startswith("#/") and reference not in met:
                met.add(reference)
                with suppress(ParseError):
                    waiting.appendleft((key, resolver.find(reference)))
        elif isinstance(value, dict):
            named = key in _API_NAMES
            inner = [(str(name), one) for name, one in value.items() if named or _is_read(str(name), value)]
            yield from (name for name, _ in inner if named)
            is_tag = key == "tags"
            keys = ("" if named else key if is_tag and name == "name" else name for name, _ in inner)
            waiting.extendleft(reversed([(name, one) for name, (_, one) in zip(keys, inner, strict=True)]))
        elif isinstance(value, list):
            waiting.extendleft((key, one) for one in reversed(value))
        elif key in _API_PROSE and isinstance(value, str) and value != last:
            last = value  # what a parameter says, its schema may say again
            yield without_marks(value)
        elif key in _API_SAID and isinstance(value, str | int | float) and (key, value) not in met:
            met |= {(key, value)} if key == "tags" else set()  # operations are grouped by them
            yield str(value)


def _is_read(key: str, beside: Mapping[str, Any]) -> bool:
    is_known = key not in _API_UNREAD and not key.startswith("x-")
    return is_known and (key != "name" or beside.get("in") != "body")  # of which there is but one
