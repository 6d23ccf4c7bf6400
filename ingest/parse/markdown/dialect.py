"""Markdown as generators of sites and wikis write it > CommonMark with HTML, whose readers know the rest.

What is known: MDX (imports, components, comments), containers of Docusaurus, VitePress, Pandoc and MyST,
notes and tabs of MkDocs, alerts of GitHub and Obsidian, wikilinks, shortcodes of Hugo, tags of GitBook, lists
of attributes.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ingest.parse.html.visibility import word_set

COMPONENT = "md-component:"
"""What ids begin with where something stood that is drawn when the page is built, and says nothing here."""

MAX_DEPTH = 12
_NEAR = 2_000
"""Characters of a line behind a tag that are looked at."""

HTML_TAGS = word_set(
    "a abbr b bdi bdo big blockquote br button center cite code data dd del details dfn div dl dt em "
    "font h1 h2 h3 h4 h5 h6 hr i img input ins kbd label li mark math meter nobr ol output p path "
    "picture pre progress q rp rt ruby s samp small source span strike strong sub summary sup svg table "
    "tbody td th thead time tr tt u ul var wbr"
)
"""What is no component, in running text."""

_KINDS = word_set("danger warning caution important attention error hint tip note")
"""Kinds of notes that the reader of HTML says by itself."""

_NOTES = _KINDS | word_set(
    "info success question example abstract summary failure bug quote cite seealso tldr faq help check done "
    "fail missing todo security versionadded versionchanged deprecated admonition callout aside alert"
)
_HOLDERS = word_set("dropdown card tab-item tab-set grid grid-item-card")
_TITLES = word_set("title label heading header summary question name path query tab body")
_WORDS = word_set("description caption text subtitle answer message content tip tooltip alt")
_STYLES = word_set("type kind variant style status intent color")
_CODE = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?P<fence>`{3,}|~{3,})[^\n]*\n(?:.*\n)*?"
    r"[ \t>]*(?P=fence)[`~]*[ \t]*$"
    r"|^[ \t>]*(?:`{3,}(?=[^`\n]*$)|~{3,})[\s\S]*\Z|^\$\$[\s\S]*?\$\$"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?:[^\n]|\n(?![ \t]*\n)){0,2000}?(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE,
)
_VALUE = r"\"[^\"]*\"|'[^']*'|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|[^\s\"'{}<>=`/]+"
_MARKUP = re.compile(
    r"\{/\*(?:(?!\{/\*)[\s\S]){0,5000}?\*/\}|^%%[\s\S]{0,2000}?%%[ \t]*$|\{#[^\n]{0,500}?#\}"
    r"|\{\{[<%][ \t]*(?:rel)?ref[ \t]+\"?(?P<ref>[^\"\s>%]+)\"?[ \t]*[%>]\}\}"
    rf"|<(?P<close>/?)(?P<tag>[A-Z][\w.]*|[a-z]+(?:-[a-z0-9]+)+)(?P<attrs>(?:\s+[\w:@.-]+(?:=(?:{_VALUE}))?"
    r"|\s*\{\.\.\.[^{}]*\})*)\s*(?P<empty>/?)>"
    r"|\{%[-+]?[ \t]*(?P<end>end)?(?P<liquid>\w[\w-]*)(?P<told>[^\n]{0,500}?)[-+]?%\}"
    r"|\{\{[<%][ \t]*(?P<stop>/)?[ \t]*(?P<code>[\w./-]+)(?P<said>[^\n]{0,500}?)(?P<alone>/)?[ \t]*[%>]\}\}"
    r"|\{(?P<quote>['\"`])(?P<string>[^\n{}'\"`]*)(?P=quote)\}"
    r"|(?P<shown>!?)\[\[(?P<page>[^\[\]|\n]*[^\W\d_][^\[\]|\n]*)(?:\|(?P<words>[^\[\]\n]+))?\]\](?!\()"
    r"|(?<![=\w])==(?P<marked>[^\s=](?:[^=\n]*[^\s=])?)==(?![=\w])"
    r"|[ \t]*(?P<list>\{:[^{}\n]*\}|(?<=[)\]*_`])\{[ \t]*(?:[.#][\w:-]+|[\w-]+=)[^{}\n]*\}"
    r"|\{[ \t]*[.#][\w:-]+[^{}\n]*\}(?=[ \t]*$))",
    re.MULTILINE,
)
_END = re.compile(r"\{%[-+]?[ \t]*end(\w+)|\{\{[<%][ \t]*/[ \t]*([\w./-]+)|</([\w.-]+)>")
_ATTRIBUTE = re.compile(rf"([\w:.@-]+)[=:][ \t]*({_VALUE})|\"([^\"]+)\"")
_STRING = re.compile(r"['\"`]([^'\"`{}]+)['\"`]")
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(`{3,}|~{3,})[ \t]*(.*)$")
_CONTAINER = re.compile(r"([ \t]*)(:{3,}|/{3,})[ \t]*([^\n]*?)[ \t]*:*$")
_LEAF = re.compile(r"[ \t]*::([a-z][\w-]*)(?:\[(.*)\])?(?:\{.*\})?[ \t]*$")
_NAMED = re.compile(r"\{?\.?([A-Za-z][\w.-]*)\}?(.*)$", re.DOTALL)
_INDENTED = re.compile(
    r"([ \t]*)(!!!|\?\?\?\+?|===[!+]?)[ \t]+(?:([A-Za-z][\w -]*?)[ \t]*)?(\"(.*)\")?[ \t]*$"
)
_ALERT = re.compile(r"([ \t>]*>[ \t]*)\[!([\w-]{2,20})\][+-]?[ \t]*(.*)$")
_TOC = re.compile(r"[ \t]*(?:\[TOC\]|\[\[_?TOC_?\]\]|\{:[ \t]*\.?toc[^}]*\}|\$\{toc\})[ \t]*$", re.IGNORECASE)
_INCLUDE = re.compile(
    r"[ \t]*(?:\{\*[ \t]*(\S+)[^\n]*\*\}|<<<[ \t]*(\S+)|-{1,2}8<-{1,2}[ \t]*\"([^\"\n]+)\""
    r"|\{![>\- ]*(\S+?)[ \t]*!\})[^\n]*$"
)
_SNIPPETS = re.compile(r"[ \t]*-{1,2}8<-{1,2}[ \t]*$")
_BLOCK_ID = re.compile(r"^(.*\S)?[ \t]+\^([A-Za-z][\w-]*)[ \t]*$")
_LIST_ITEM = re.compile(r"([ \t]*(?:[-*+]|\d+[.)])[ \t]+)\S")
_IMPORT = re.compile(r"import\s+(?:['\"]|[\w*{][^'\"]*\bfrom\s+['\"]|\{[^}]*$|type\s)")
_EXPORT = re.compile(r"export\s+(?:default|const|let|var|function|class|async|type|interface|enum|\{|\*)")
_STATED = re.compile(
    r"^export\s+const\s+(?:title\s*=|(?:metadata|frontmatter|meta)\s*=\s*\{[^}]*?\btitle['\"]?\s*:)\s*(['\"`])(.+?)\1",
    re.MULTILINE | re.IGNORECASE,
)
_HEADING = re.compile(r"[ \t>]*#{1,6}[ \t]")
_UNDERLINE = re.compile(r"[ \t]*\n[ ]{0,3}(?:=+|-+)[ \t]*(?:\n|$)")
_HEADING_ID = re.compile(
    r"^([ \t>]*#{1,6}[ \t][^\n]*?)[ \t]*\{/\*[ \t]*([\w.:-]+)[ \t]*\*/\}[ \t]*$", re.MULTILINE
)


@dataclass(slots=True)
class PlainMarkdown:
    """A text without what is a dialect's: the title that its code states, and files that it takes in.

    `is_mdx`: components stand in it, and lines are indented for looks.
    """

    text: str = ""
    title: str | None = None
    included: list[str] = field(default_factory=list)
    is_mdx: bool = False


def plain_markdown(text: str) -> PlainMarkdown:
    """Return the text as CommonMark with HTML; what is in code stays as it is."""
    plain = PlainMarkdown()
    text = text.replace("\r\n", "\n")
    lines = _without_esm(text.split("\n"), plain)
    body = _HEADING_ID.sub(r"\1 {#\2}", "\n".join(lines))
    body = _Components(body, plain).replaced()
    plain.text = "\n".join(_Containers(plain).read(body.split("\n")))
    return plain


def _without_esm(lines: Sequence[str], plain: PlainMarkdown) -> Iterator[str]:
    """Leave out `import` and `export` where a paragraph could begin, up to the blank line behind them."""
    fence, blank, inside, depth, said = "", True, False, 0, list[str]()
    for line in lines:
        fence = _fenced(line, fence)
        if not fence and blank and not inside and (_IMPORT.match(line) or _EXPORT.match(line)):
            inside, depth = True, 0
        if inside:
            plain.is_mdx = True
            said.append(line)
            depth += sum(line.count(sign) for sign in "{[(") - sum(line.count(sign) for sign in "}])")
            inside = bool(line.strip()) or depth > 0
        else:
            yield line
        blank = not line.strip() or inside
    if found := _STATED.search("\n".join(said)):
        plain.title = found[2].strip() or None


def _fenced(line: str, fence: str) -> str:
    """The fence of the code that goes on behind a line, "" outside of code."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    if not fence:
        return found[1] if "`" not in found[2] or found[1][0] == "~" else ""
    return "" if found[1][0] == fence[0] and len(found[1]) >= len(fence) and not found[2] else fence


def opening(name: str, title: str, *, kind: str = "") -> list[str]:
    """Lines that open a box or a part of a page under its title."""
    name = (kind or name).lower().rpartition("-")[2]
    is_note = name in _NOTES
    if not title and is_note and name not in _KINDS:
        title = name.title()
    lines = [f'<div class="admonition {name}">' if is_note else "<div>", ""]
    return [*lines, *title_lines(title)] if title else lines


def title_lines(title: str) -> list[str]:
    """Lines of a title that stands over what follows."""
    return ['<div class="admonition-title">', "", title, "", "</div>", ""]


class _Components:
    """Components, shortcodes and comments of one text; those that open a line open a block."""

    def __init__(self, text: str, plain: PlainMarkdown) -> None:
        self._text = text
        self._plain = plain
        self._ends = {next(filter(None, names)) for names in _END.findall(text)}
        self._blocks: list[str] = []
        self._labels: list[list[str]] = []

    def replaced(self) -> str:
        pieces, at = list[str](), 0
        for code in _CODE.finditer(self._text):
            pieces += [self._replaced(at, code.start()), code[0]]
            at = code.end()
        return "".join([*pieces, self._replaced(at, len(self._text))])

    def _replaced(self, start: int, end: int) -> str:
        pieces, at = list[str](), start
        for found in _MARKUP.finditer(self._text, start, end):
            pieces += [self._text[at : found.start()], self._of(found)]
            at = found.end()
        return "".join([*pieces, self._text[at:end]])

    def _of(self, found: re.Match[str]) -> str:
        if found["ref"]:
            return found["ref"]
        if (plain := found["string"] or found["marked"]) is not None:
            return plain
        if found["page"] and _TOC.fullmatch(found[0]):
            return found[0]
        if found["page"]:
            is_picture = found["shown"] and re.search(
                r"\.(?:png|jpe?g|gif|svg|webp|pdf|mp4)$", found["page"].strip()
            )
            return "" if is_picture else f"[{found['words'] or found['page']}](<{found['page'].strip()}>)"
        if found["list"]:
            return self._attributes(found)
        if found["tag"] and found["tag"].isupper() and found["tag"].lower() in HTML_TAGS:
            return found[0]
        if found["tag"]:
            return self._tag(found, found["tag"], found["attrs"], bool(found["close"]), bool(found["empty"]))
        name = found["liquid"] or found["code"]
        if not name:
            return ""
        told = found["told"] or found["said"] or ""
        if name in {"include", "readfile", "include-markdown", "includecode"}:
            self._plain.included += _STRING.findall(told)[:1] or told.split()[:1]
            return ""
        is_end = bool(found["end"] or found["stop"])
        return self._tag(found, name, told, is_end, is_empty=bool(found["alone"]) or name not in self._ends)

    def _attributes(self, found: re.Match[str]) -> str:
        """Keep the id of a list of attributes: at a heading for the heading, elsewhere where it stands."""
        id_ = re.search(r"#([\w.:-]+)", found["list"])
        line = self._text[self._text.rfind("\n", 0, found.start()) + 1 : found.end()]
        if line.lstrip().startswith(":::"):
            return found[0]
        if id_ is None:
            return ""
        is_heading = _HEADING.match(line) or _UNDERLINE.match(self._text, found.end())
        return f" {{#{id_[1]}}}" if is_heading else f'<a id="{id_[1]}"></a>'

    def _tag(self, found: re.Match[str], name: str, attrs: str, is_end: bool, is_empty: bool) -> str:
        before = self._text[self._text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if is_end:
            is_block = name in self._blocks
            while is_block and self._blocks.pop() != name:
                self._labels.pop()
            if is_block:
                self._labels.pop()
            return f"\n\n{_indent(before)}</div>\n\n" if is_block else ""
        if found["tag"] and not attrs and not is_empty and name not in self._ends:
            return found[0]  # `List<String>`
        if _columns(before) >= 4 and not before.strip() and not self._blocks and not self._plain.is_mdx:
            return found[0]  # in code
        title, words, kind = self._said(name, attrs)
        if not self._opens_block(found, name, before, is_empty=is_empty):
            return "".join(f"{one} " for one in (title, *words) if one)
        lines = opening(name, title, kind=kind)
        lines += [line for word in words for line in (word, "")]
        lines += [] if title or words else [_mark(found.start()), ""]
        if is_empty:
            lines.append("</div>")
        else:
            self._blocks.append(name)
            self._plain.is_mdx |= bool(found["tag"])
            self._labels.append([])
            if labels := re.search(r"(?:items|labels|tabs)=\{\[([^\]]*)\]\}", attrs):
                self._labels[-1] = _STRING.findall(labels[1])
        indent = _indent(before)
        return "\n\n" + "\n".join(indent + line if line else "" for line in lines) + "\n\n" + indent

    def _opens_block(self, found: re.Match[str], name: str, before: str, *, is_empty: bool) -> bool:
        """Whether a tag stands alone on its line, or with all that it is around."""
        if before.strip(" \t") and not before.rstrip().endswith(">"):
            return False
        end = self._text.find("\n", found.end())
        line = self._text[found.end() : end if end >= 0 else len(self._text)][:_NEAR]
        behind = line if is_empty else line.partition(f"</{name}>")[2]
        return (is_empty or name in self._ends) and (not behind.strip() or behind.lstrip().startswith("<"))

    def _said(self, name: str, attrs: str) -> tuple[str, list[str], str]:
        """Title, further words and kind that the attributes of a component have."""
        title, words, kind = list[str](), list[str](), ""
        is_tab = "tab" in name.lower()
        stated = dict[str, str]()
        for key, value, bare in _ATTRIBUTE.findall(attrs):
            text = _literal(value) if key else bare
            stated.setdefault(key.lower() or "title", " ".join(text.split()))
        for key, text in stated.items():
            if key in _STYLES and text.lower() in _NOTES:
                kind = text
            elif key in _TITLES and re.search(r"\w", text):
                title.append(text)
            elif key in _WORDS and re.search(r"\w", text):
                words.append(text)
        if name.lower().endswith("tabs"):
            return "", words, kind
        if is_tab and not title and stated.get("value"):
            title.append(stated["value"])
        if is_tab and not title and self._labels and self._labels[-1]:
            title.append(self._labels[-1].pop(0))
        return " ".join(title), words, kind


def _literal(value: str) -> str:
    """The text of the value of an attribute; none of an expression."""
    inner = value.removeprefix("{").removesuffix("}").strip() if value.startswith("{") else value
    if len(inner) > 1 and inner[0] in "\"'`" and inner[-1] == inner[0]:
        return html.unescape(inner[1:-1])
    return "" if value.startswith("{") else value


def _indent(before: str) -> str:
    return before if not before.strip() else ""


class _Containers:
    """Lines of one text: what opens and closes containers, notes whose text is indented, includes."""

    def __init__(self, plain: PlainMarkdown) -> None:
        self._plain = plain

    def read(self, lines: Sequence[str], depth: int = 0) -> list[str]:
        made: list[str] = []
        open_: list[tuple[str, str]] = []
        fence, at, item = "", 0, 0
        while at < len(lines):
            line = lines[at]
            at += 1
            was, fence = fence, _fenced(line, fence)
            if was or fence:
                if not was and (told := self._directive(lines, at, fence)) is not None:
                    body, at, fence = told
                    made += self.read(body, depth + 1) if depth < MAX_DEPTH else body
                elif not self._takes_in(line):
                    made.append(line)
                continue
            if line.strip():
                found = _LIST_ITEM.match(line)
                indent = len(line) - len(line.lstrip())
                item = len(found[1].expandtabs(4)) if found else item if indent >= 2 else 0
            if _INDENTED.match(line) and depth < MAX_DEPTH:
                at = self._indented(lines, at, made, depth, item)
            elif found := _CONTAINER.match(line):
                at = self._container(found, lines, at, made, open_)
            else:
                made += self._line(line, at)
                if _SNIPPETS.match(line):
                    at = self._snippets(lines, at)
        return [*made, *(f"\n{indent}</div>\n" for _, indent in reversed(open_))]

    def _line(self, line: str, at: int) -> list[str]:
        if _TOC.match(line) or _SNIPPETS.match(line) or self._takes_in(line):
            return []
        if alert := _ALERT.match(line):
            before, kind, title = alert[1].rstrip(), alert[2].replace("-", " ").title(), alert[3]
            named = (
                title if not title or kind.lower() in title.lower() or kind == "Note" else f"{kind}: {title}"
            )
            return [f"{before} {one}" for one in title_lines(named or kind)]
        if leaf := _LEAF.match(line):
            return ["", leaf[2], ""] if leaf[2] else [_mark(at), ""]
        if marked := _BLOCK_ID.match(line):
            return [f'{marked[1] or ""} <a id="^{marked[2]}"></a>']
        return [line]

    def _takes_in(self, line: str) -> bool:
        """Whether a line takes in another file, which is not read."""
        found = _INCLUDE.match(line)
        if found is not None:
            self._plain.included.append(next(filter(None, found.groups())))
        return found is not None

    def _snippets(self, lines: Sequence[str], at: int) -> int:
        end = next((n for n in range(at, len(lines)) if _SNIPPETS.match(lines[n])), at)
        self._plain.included += [line.strip() for line in lines[at:end] if line.strip()]
        return end + 1 if end > at else at

    def _indented(self, lines: Sequence[str], at: int, made: list[str], depth: int, item: int) -> int:
        """Read a note of MkDocs, or a tab: its text is indented by four more columns."""
        found = _INDENTED.match(lines[at - 1])
        assert found is not None
        is_tab = found[2].startswith("=")
        own = len(found[1].expandtabs(4))
        if own >= item + 4 or (is_tab and found[4] is None) or not (found[3] or found[4]):
            made.append(lines[at - 1])
            return at
        end = at
        while end < len(lines) and (not lines[end].strip() or _columns(lines[end]) >= own + 4):
            end += 1
        while end > at and not lines[end - 1].strip():
            end -= 1
        name = "" if is_tab else (found[3] or "").split(" ")[0]
        body = [line.expandtabs(4)[:own] + line.expandtabs(4)[own + 4 :] for line in lines[at:end]]
        opened = [found[1] + line if line else "" for line in opening(name, found[5] or "")]
        made += ["", *opened, *self.read(body, depth + 1), "", f"{found[1]}</div>", ""]
        return end

    def _container(
        self,
        found: re.Match[str],
        lines: Sequence[str],
        at: int,
        made: list[str],
        open_: list[tuple[str, str]],
    ) -> int:
        """Read the line that opens or closes a container, and the options right behind it."""
        indent, mark, told = found.groups()
        if not told:
            if open_:
                fitting = [place for place, one in enumerate(open_) if one[0] == mark]
                del open_[fitting[-1] if fitting else -1 :]
                made += ["", f"{indent}</div>", ""]
            return at
        name, title = _named(told)
        while at < len(lines) and re.match(r"\s+[\w-]+:(?:\s|$)|\s{4,}-\s|:[\w-]+:", lines[at]):
            at += 1  # its options
        if "." in name and not title:  # an object that mkdocstrings describes here
            made += ["", _mark(at), ""]
            return at
        open_.append((mark, indent))
        made += ["", *(indent + line if line else "" for line in opening(name, title))]
        return at

    def _directive(self, lines: Sequence[str], at: int, fence: str) -> tuple[list[str], int, str] | None:
        """Lines of a fence that is a directive of MyST and holds text; None for code."""
        found = _FENCE.match(lines[at - 1])
        if found is None or not (named := re.match(r"\{([\w-]+)\}[ \t]*(.*)$", found[2])):
            return None
        name, title = named[1], named[2]
        is_text = name in _NOTES or name in _HOLDERS
        if not is_text and name not in {"toctree", "contents", "literalinclude", "include"}:
            return None
        end = next((n for n in range(at, len(lines)) if not _fenced(lines[n], fence)), len(lines))
        body = [line for line in lines[at:end] if not re.match(r"\s*:[\w-]+:", line)]
        if name in {"literalinclude", "include"}:
            self._plain.included.append(title)
        return ([*opening(name, title), *body, "", "</div>", ""] if is_text else [], end + 1, "")


def _mark(number: int) -> str:
    return f'<a id="{COMPONENT}{number}"></a>'


def _columns(line: str) -> int:
    shown = line.expandtabs(4)
    return len(shown) - len(shown.lstrip())


def _named(told: str) -> tuple[str, str]:
    """The name and the title of a container: `tip[Title]{..}`, `{note} Title`, `{.tip title="Title"}`."""
    found = _NAMED.match(told)
    if found is None:
        return "", told
    name, rest = found[1], found[2].strip(" }")
    if told.startswith("{."):
        rest = f"{{{rest}}}"
    stated = re.search(r"(?:title|label|summary)=\"([^\"]*)\"", rest)
    label = re.match(r"\[([^\]]*)\]", rest)
    title = (
        label[1] if label else stated[1] if stated else re.sub(r"\{[^{}]*\}?", "", rest).lstrip("| ").strip()
    )
    return name, title.strip('"')
