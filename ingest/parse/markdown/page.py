"""Markdown and plain text as a page: rendered to HTML, which one reader knows for all formats."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from itertools import pairwise, zip_longest
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, paragraph, reference
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from ingest.parse.chunking import CountTokens
from ingest.parse.html.charset import cut_markup
from ingest.parse.html.dom import normal_space, parse_tree
from ingest.parse.html.whole import assemble_document, decode_text, read_tree, say_missing
from ingest.parse.links import FoundLink
from ingest.parse.markdown.dialect import COMPONENT, HTML_TAGS, plain_markdown
from ingest.parse.markdown.front_matter import split_front_matter
from ingest.parse.outline import Block, Heading, Part
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import DocumentKind

_EXPLICIT = re.compile(r"\s*\{:?\s*(?:[.][\w-]+\s+)*#([^\s{}#]+)(?:\s+[^{}]*)?\}\s*$")
_DROPPED = re.compile(r"[^\w\- ]")


def split_explicit_id(heading: str) -> tuple[str, str | None]:
    """Cut `{#id}` off the end of a heading."""
    match = _EXPLICIT.search(heading)
    return (heading, None) if match is None else (heading[: match.start()].rstrip(), match[1])


class Slugs:
    """Fragments of one document, in reading order."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def of(self, heading: str, explicit: str | None = None) -> str | None:
        """Return the explicit id, else the slug; the second of equals gets `-1`. None if no letter is left.

        Source: GitHub: lower case, characters but letters, digits, `_` and `-` dropped, spaces to hyphens.
        """
        if explicit is not None:
            self._seen[explicit] += 1
            return explicit
        slug = _DROPPED.sub("", heading.strip().lower()).replace(" ", "-")
        if not slug:
            return None
        number = self._seen[slug]
        self._seen[slug] += 1
        if not number:
            return slug
        numbered = f"{slug}-{number}"
        self._seen[numbered] += 1
        return numbered


_NOTE = re.compile(r"\[\^([^\]\s]{1,80})\]:[ \t]")
_MARK = re.compile(r"\[\^([^\]\s]{1,80})\]")
_NOTE_INDENT = 4
_INFO = re.compile(r"\{?\s*\.?([a-z][\w+#.-]{0,29})", re.IGNORECASE)
_LABEL = re.compile(
    r"(?:title|filename|caption|label|file|name)=(?:\"([^\"]+)\"|'([^']+)'|(\S+))|\[([^\]]+)\]"
)

_SLUG = "md-slug:"
_NOTES = (_TO_NOTE, _FROM_NOTE) = ("md-note:", "md-mark:")
"""Ids that are ours: those of headings may be names that stand for no place in pages of sites (`content`)."""

_LINK, _HTML_LINK = "md-a", "html-a"
"""Tags of links until the tree stands: an `a` in another would end it, be it there for its id alone."""

_TAG = re.compile(r"</?([a-z][\w-]*)", re.IGNORECASE)
_ANCHOR = re.compile(r"(</?)a(?=[\s/>])", re.IGNORECASE)
_RAW = re.compile(r"<(/?)(?:title|iframe|xmp|plaintext|noframes|noembed)\b", re.IGNORECASE)
_SCRIPT = re.compile(r"<(/?)(script|style|textarea)\b", re.IGNORECASE)
"""Elements that would take all that follows into themselves, were they not closed."""


@dataclass(frozen=True, slots=True)
class MarkdownParts:
    """A Markdown body: parts in reading order, links as written, its title, and what is missing."""

    parts: tuple[Part, ...]
    links: tuple[FoundLink, ...]
    title: str | None = None
    warnings: tuple[str, ...] = ()


def read_markdown(body: str, *, title: str | None = None) -> MarkdownParts:
    """Read CommonMark with tables, definitions, formulas and footnotes, and the dialects of sites.

    Args: title: what the front matter calls the document; it stands over all headings.
    """
    plain = plain_markdown(body)
    parser = _parser(is_mdx=plain.is_mdx)
    env: dict[str, Any] = {"notes": {}}
    tokens = parser.parse(plain.text, env)
    _name_headings(tokens)
    _label_notes(tokens, env)
    markup = parser.renderer.render(tokens, parser.options, env)
    root = parse_tree(f"<html><body>{markup}</body></html>", subject="")
    for link in root.iter(_LINK, _HTML_LINK):
        link.tag = "a"
    found = read_tree(root)
    title = title or plain.title
    parts = _under_title([_with_own_ids(part) for part in found.parts], title)
    links = tuple(
        link for link in found.links if not link.href.startswith((f"#{_TO_NOTE}", f"#{_FROM_NOTE}"))
    )
    return MarkdownParts(tuple(_without_bare(parts)), links, title, tuple(say_missing(plain.included)))


@cache
def _parser(*, is_mdx: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.use(deflist_plugin).use(dollarmath_plugin, allow_space=False, allow_digits=False)
    parser.block.ruler.at("reference", _reference)
    parser.block.ruler.before("reference", "footnote", _footnote, {"alt": ["paragraph", "reference"]})
    parser.inline.ruler.before("link", "footnote", _note_mark)
    if is_mdx:
        parser.disable("code")
    rules = {
        "link_open": lambda tokens, at, *_: (
            f'<{_LINK} href="{escape(str(tokens[at].attrGet("href") or ""))}">'
        ),
        "link_close": lambda *_: f"</{_LINK}>",
        "image": lambda tokens, at, *_: _picture(tokens[at]),
        "fence": lambda tokens, at, *_: _code(tokens[at]),
        "code_block": lambda tokens, at, *_: _code(tokens[at]),
        "html_block": lambda tokens, at, *_: _closed(tokens[at].content),
        "html_inline": lambda tokens, at, *_: _shown(tokens[at].content, tokens),
        "math_inline": lambda tokens, at, *_: escape(tokens[at].content),
        "math_inline_double": lambda tokens, at, *_: escape(tokens[at].content),
        "math_block": lambda tokens, at, *_: f"<p>{escape(tokens[at].content.strip())}</p>",
        "math_block_label": lambda tokens, at, *_: f"<p>{escape(tokens[at].content.strip())}</p>",
        "footnote_mark": lambda tokens, at, _options, env: _mark(tokens[at].meta, env),
        "footnote_open": lambda tokens, at, _options, env: _note(tokens[at].meta, env),
        "footnote_back": lambda tokens, at, _options, env: _back(tokens[at].meta, env),
        "footnote_close": lambda *_: "</div>",
    }
    parser.renderer.rules.update(rules)  # type: ignore[attr-defined]
    return parser


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read the target of a link; to CommonMark a footnote would be one, and its text a target."""
    at = state.bMarks[start] + state.tShift[start]
    return not state.src.startswith("[^", at) and reference(state, start, end, silent)


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read `[^1]: text` as far as a paragraph goes; what is indented behind it belongs to it."""
    found = _NOTE.match(state.src, state.bMarks[start] + state.tShift[start])
    if state.is_code_block(start) or found is None:
        return False
    if silent:
        return True
    state.env["notes"].setdefault(found[1], "")
    state.push("footnote_open", "div", 1).meta = {"name": found[1]}
    paragraph(state, start, end, silent)
    inline = state.tokens[-2]
    inline.content = inline.content[len(found[0]) :]
    last = state.line
    while last < end and (state.isEmpty(last) or state.sCount[last] >= state.blkIndent + _NOTE_INDENT):
        last += 1
    indent, state.blkIndent = state.blkIndent, state.blkIndent + _NOTE_INDENT
    state.md.block.tokenize(state, state.line, last)
    state.blkIndent, state.line = indent, last
    state.push("footnote_close", "div", -1)
    return True


def _note_mark(state: StateInline, silent: bool) -> bool:
    """Read `[^1]` where there is such a footnote."""
    found = _MARK.match(state.src, state.pos) if state.src.startswith("[^", state.pos) else None
    if found is None or found[1] not in state.env.get("notes", {}):
        return False
    if not silent:
        state.push("footnote_mark", "", 0).meta = {"name": found[1]}
    state.pos = found.end()
    return True


def _label_notes(tokens: Sequence[Token], env: dict[str, Any]) -> None:
    """Number footnotes in the order of their marks, as sites do; one that nothing leads to keeps its name."""
    notes = env["notes"]
    number = 0
    for mark in (
        child for token in tokens for child in token.children or () if child.type == "footnote_mark"
    ):
        mark.meta["is_first"] = not notes[mark.meta["name"]]
        if mark.meta["is_first"]:
            number += 1
            notes[mark.meta["name"]] = str(number)
    notes.update({name: name for name, label in notes.items() if not label})
    for token, inline in zip(tokens, tokens[2:], strict=False):
        if token.type == "footnote_open" and inline.children is not None:
            inline.children.insert(0, Token("footnote_back", "", 0, meta=token.meta))


def _mark(meta: dict[str, Any], env: dict[str, Any]) -> str:
    label = escape(env["notes"][meta["name"]])
    id_ = f' id="{_FROM_NOTE}{label}"' if meta["is_first"] else ""
    return f'<a{id_} href="#{_TO_NOTE}{label}">[{label}]</a>'


def _note(meta: dict[str, Any], env: dict[str, Any]) -> str:
    return f'<div id="{_TO_NOTE}{escape(env["notes"][meta["name"]])}">'


def _back(meta: dict[str, Any], env: dict[str, Any]) -> str:
    label = escape(env["notes"][meta["name"]])
    return f'<a href="#{_FROM_NOTE}{label}">[{label}]</a> '


def _name_headings(tokens: Sequence[Token]) -> None:
    """Give each heading the id that its host gives it, or that it states; that is cut off its end."""
    slugs = Slugs()
    for token, inline in pairwise(tokens):
        if token.type != "heading_open":
            continue
        children = inline.children or []
        last = children[-1] if children and children[-1].type == "text" else None
        explicit = None
        for picture in (child for child in children if child.type == "image"):
            picture.type = "text"  # a heading is words alone
        if last is not None:
            last.content, explicit = split_explicit_id(last.content)
        told = (
            " " if child.type == "softbreak" else child.content for child in children if child.type in _TOLD
        )
        if fragment := slugs.of(normal_space("".join(told)), explicit):
            token.attrSet("id", _SLUG + fragment)


_TOLD = frozenset({"text", "code_inline", "softbreak", "math_inline"})


def _picture(token: Token) -> str:
    return f'<img alt="{escape(token.content)}" src="{escape(str(token.attrGet("src") or ""))}">'


def _code(token: Token) -> str:
    info, text = token.info.strip(), token.content.strip("\n")
    language = _INFO.match(info)
    labelled = _LABEL.search(info)
    label = next(filter(None, labelled.groups()), "") if labelled else ""
    name = f' class="language-{escape(language[1].lower())}"' if language else ""
    over = f'<div class="code-block-title">{escape(label)}</div>' if label else ""
    return f"{over}<pre><code{name}>\n{escape(text)}</code></pre>\n" if text.strip() else ""


def _closed(content: str) -> str:
    """A block of HTML in which nothing stays open that would hide what follows."""
    content = _RAW.sub(
        r"<\1span", cut_markup(content.encode("utf-8", "replace"))[0].decode("utf-8", "replace")
    )
    open_ = ""
    for found in _SCRIPT.finditer(content):
        open_ = found[2] if not open_ and not found[1] else "" if found[1] and found[2] == open_ else open_
    return content + (f"</{open_}>\n" if open_ else "")


def _shown(content: str, around: Sequence[Token]) -> str:
    """A tag in running text; what is none (`List<String>`) and nothing closes is text."""
    name = _TAG.match(content)
    if name is None:
        return ""  # a comment
    is_known = name[1].lower() in HTML_TAGS
    if not is_known and content.startswith("<"):
        closers = f"</{name[1]}>"
        is_tag = content.startswith("</") or " " in content or any(one.content == closers for one in around)
        return "" if is_tag else escape(content)
    return _ANCHOR.sub(rf"\1{_HTML_LINK}", _closed(content))


def _with_own_ids(part: Part) -> Part:
    if isinstance(part, Heading):
        fragment = _own_id(part.fragment)
        own = dict.fromkeys(filter(None, map(_own_id, (part.fragment, *part.aliases))))
        return replace(part, fragment=fragment, aliases=tuple(name for name in own if name != fragment))
    if isinstance(part, Block):
        anchors = ((at, _own_id(name)) for at, name in part.anchors)
        return replace(part, anchors=tuple((at, name) for at, name in anchors if name is not None))
    return part


def _own_id(name: str | None) -> str | None:
    """The id that the site gives; None for one that leads between a mark and its note."""
    if name is None or name.startswith(_NOTES):
        return None
    return name.removeprefix(_SLUG)


def _under_title(parts: list[Part], title: str | None) -> list[Part]:
    """Put the title over all headings, unless the first of them says it."""
    headings = [part for part in parts if isinstance(part, Heading)]
    if not parts or not title or (headings and _same(headings[0].text, title) and headings[0].level == 1):
        return parts
    level = 0 if any(heading.level == 1 for heading in headings) else 1
    return [Heading(text=normal_space(title), level=level), *parts]


def _same(one: str, other: str) -> bool:
    return re.sub(r"\W+", " ", one).casefold().strip() == re.sub(r"\W+", " ", other).casefold().strip()


def _without_bare(parts: Sequence[Part]) -> Iterator[Part]:
    """Leave out each heading over nothing but components: it says nothing that could be looked for."""
    for part, behind in zip_longest(parts, parts[1:]):
        if isinstance(part, Heading):
            is_bare = _marked(part) or (behind is not None and _marked(behind))
            says_more = isinstance(behind, Heading) and behind.level > part.level
            if is_bare and not says_more and (isinstance(behind, Heading) or not _says(behind)):
                continue
            own = tuple(name for name in part.aliases if not _is_mark(name))
            fragment = None if _is_mark(part.fragment or "") else part.fragment
            yield replace(part, fragment=fragment, aliases=own)
        elif isinstance(part, Block):
            yield replace(part, anchors=tuple(one for one in part.anchors if not _is_mark(one[1])))
        else:
            yield part


def _says(part: Part | None) -> bool:
    return part is not None and (not isinstance(part, Block) or bool(part.text))


def _marked(part: Part) -> bool:
    """Whether a component stood right before the text of a part, or right behind a heading."""
    if isinstance(part, Heading):
        return any(map(_is_mark, (part.fragment or "", *part.aliases)))
    return isinstance(part, Block) and any(_is_mark(name) for _, name in part.anchors)


def _is_mark(name: str) -> bool:
    return name.startswith(COMPONENT)


def parse_markdown(data: bytes, request: ParseRequest, *, count_tokens: CountTokens) -> GraphFragment:
    """Turn a Markdown file into its fragment; what its front matter states wins over the request."""
    stated, body, warnings = split_front_matter(decode_text(data, request), relations=request.relations)
    found = read_markdown(body, title=stated.title)
    said = replace(
        request,
        doc_type=stated.doc_type or request.doc_type,
        domain=stated.domain or request.domain,
        status=stated.status or request.status,
    )
    return assemble_document(
        found.parts,
        found.links,
        request=said,
        kind=DocumentKind.MARKDOWN,
        title=found.title or "",
        warnings=(*warnings, *found.warnings),
        count_tokens=count_tokens,
        doc_id=stated.doc_id,
        names=stated.names,
        references=stated.references,
        modified=stated.modified,
        access=stated.access,
    )


def parse_plain_text(data: bytes, request: ParseRequest, *, count_tokens: CountTokens) -> GraphFragment:
    """Turn a plain text file into a page of one section without heading."""
    return assemble_document(
        (Block(text=decode_text(data, request).replace("\r\n", "\n").strip()),),
        (),
        request=request,
        kind=DocumentKind.MARKDOWN,
        count_tokens=count_tokens,
        template_type="text",
        structure_confidence=0.5,
    )
