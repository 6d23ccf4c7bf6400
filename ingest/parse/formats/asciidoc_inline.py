"""Marks, macros, attributes and conditions of AsciiDoc: which lines count, and a text as HTML.

Source: docs.asciidoctor.org, AsciiDoc Language, "Text", "Macros", "Attributes", in their order of
substitutions.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape, unescape

MAX_VALUE = 4_096
"""Characters of an attribute's value; Asciidoctor's own bound where documents are not trusted."""

MAX_SUBSTITUTED = 1_000_000
"""Characters that all references to attributes of a document stand for."""

_SIGNS = {
    **{"empty": "", "blank": "", "sp": " ", "nbsp": " ", "zwsp": "", "wj": "", "apos": "'", "quot": '"'},
    **{"lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "deg": "°", "plus": "+", "brvbar": "¦"},
    **{"vbar": "|", "amp": "&", "lt": "<", "gt": ">", "startsb": "[", "endsb": "]", "caret": "^"},
    **{"asterisk": "*", "tilde": "~", "backslash": "\\", "backtick": "`", "two-colons": "::", "cpp": "C++"},
    **{"two-semicolons": ";;", "pp": "++", "backend": "html5", "backend-html5": "", "asciidoctor": ""},
}
_LITERAL = re.compile(
    r"\+\+\+(?P<raw>.{1,2000}?)\+\+\+|\$\$(?P<a>.{1,500}?)\$\$|\+\+(?P<b>.{1,500}?)\+\+"
    r"|(?P<ticks>``?)\+(?P<code>.{1,500}?)\+(?P=ticks)|(?<!\\)``(?P<mono2>(?:(?!'').){1,500}?)``"
    r"|(?:pass|stem|latexmath|asciimath):[a-z,]*\[(?P<c>.{0,500}?)(?<!\\)\]|(?<![\w\\`])\+(?P<d>\S|\S.{0,500}?\S)\+(?!\w)"
    r"|(?<![\w\\\"'`;:}])`(?P<mono>[^\s`]|[^\s`][^`]{0,500}?[^\s`])`(?![\w\"'`])",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(\*\*?|__?|``?|##?|\^|~|\{|\[\[|&lt;&lt;|https?:|link:|xref:|image:|\+|''?|\(\()")
_ROLE = r"(?:\[[^\[\]\n]{1,100}\])?"
_QUOTES = tuple(
    (re.compile(pattern, re.DOTALL), instead)
    for pattern, instead in (
        (r"``(\S.{0,500}?)''", r'"\1"'),
        (r"""(["'])`(\S|\S.{0,500}?\S)`\1""", r"\1\2\1"),
        (rf"{_ROLE}\*\*(.{{1,500}}?)\*\*", r"<b>\1</b>"),
        (rf"(?<![\w&;:}}*]){_ROLE}\*(\S|\S.{{0,500}}?\S)\*(?!\w)", r"<b>\1</b>"),
        (rf"{_ROLE}__(.{{1,500}}?)__", r"<em>\1</em>"),
        (rf"(?<![\w&;:}}_]){_ROLE}_(\S|\S.{{0,500}}?\S)_(?!\w)", r"<em>\1</em>"),
        (r"(?<![\w&;:}`])`(\S|[^\s`][^`]{0,500}?\S)`(?!\w)", r"<code>\1</code>"),
        (rf"{_ROLE}##(.{{1,500}}?)##", r"\1"),
        (rf"(?<![\w&;:}}#]){_ROLE}#(\S|\S.{{0,500}}?\S)#(?!\w)", r"\1"),
        (r"\^(\S{1,100}?)\^", r"<sup>\1</sup>"),
        (r"~(\S{1,100}?)~", r"<sub>\1</sub>"),
        (r"(?<=\w)--(?=\w)", "—"),
    )
)
_DIRECTIVE = re.compile(r"(\\)?(ifdef|ifndef|ifeval|endif|include)::([^\[]*)\[(.*)\]\s*$")
_COMPARED = re.compile(r"""\s*["']?(.*?)["']?\s*(==|!=)\s*["']?(.*?)["']?\s*$""")
ENTRY = re.compile(r":(!?\w[\w-]*!?):(?:[ \t]+(.*))?$")
_ATTRIBUTE = re.compile(r"\{(\w[\w-]*)\}")
_MACRO = re.compile(
    r"(?:(?<![\w/\\])|(?=footnote))([a-z][a-z0-9]*):((?!:)[^\s\[\]]{0,2000})"
    r"\[((?:\\\]|[^\]\[]|\[[^\]]{0,200}\]){0,2000})\]"
)
_ADDRESS = re.compile(r"(?<![\w=\"'/\\])(?:&lt;)?((?:https?|ftp)://(?:(?!&[lg]t;)[^\s<>\[\]\x02])+)(?:&gt;)?")
_CROSS = re.compile(r"&lt;&lt;#?([^,&\n]{1,300}?)(?:,\s*(.{1,500}?))?&gt;&gt;", re.DOTALL)
_ANCHOR = re.compile(r"\[\[(\[?)([\w:.-]{1,200})(?:,[^\]]{0,200})?\]\]\]?")
_INDEX = re.compile(r"\(\(\([^()]{1,300}\)\)\)|(?<!\()\(\(([^()]{1,300})\)\)(?!\))")
_KEPT = re.compile("\x02(\\d+)\x03")
_TITLED = re.compile("\x04([^\x04]*)\x04")
_TAG = re.compile(r"<[^<>]*>")
_WITH_NAMES = re.compile(r",\s*[\w-]+=|^\s*[\w-]+=")


def text_of_markup(markup: str) -> str:
    """Return the text of markup on one line."""
    return " ".join(unescape(_TAG.sub("", markup)).split())


class Inline:
    """Turns texts of one document into HTML; knows its attributes, titles and footnotes."""

    def __init__(self) -> None:
        self.attributes = dict(_SIGNS)
        self.titles: dict[str, str] = {}
        self._notes: list[str] = []
        self._kept: list[str] = []
        self._room = MAX_SUBSTITUTED

    def define(self, name: str, value: str) -> None:
        """Give an attribute a value, in which others are filled in; a name with `!` has none any more."""
        self.attributes.pop(name.strip("!").lower(), None)
        if "!" not in name:
            self.attributes[name.lower()] = self.fill(value)[:MAX_VALUE]

    def fill(self, text: str) -> str:
        """Put values in place of `{name}`; what is not defined stays as it is."""

        def value(found: re.Match[str]) -> str:
            known = self.attributes.get(found[1].lower())
            if known is None or len(known) > self._room:
                return found[0]
            self._room -= len(known)
            return known

        return _ATTRIBUTE.sub(value, text)

    def html(self, text: str) -> str:
        """Return a text as HTML; titles of places are not in it before `finish`."""
        text = escape(_LITERAL.sub(self._literal, text), quote=False)
        text = _ESCAPED.sub(lambda found: self._keep(found[1]), text)
        for pattern, instead in _QUOTES:
            text = pattern.sub(instead, text)
        text = _MACRO.sub(self._macro, self.fill(text))
        text = _ADDRESS.sub(self._address, text)
        text = _CROSS.sub(lambda found: self._cross(found[1], found[2] or ""), text)
        text = _ANCHOR.sub(self._anchor, text)
        text = _INDEX.sub(lambda found: found[1] or "", text)
        text = re.sub(r" \+$", "<br>", text, flags=re.MULTILINE)
        for _ in range(3):
            text = _KEPT.sub(lambda found: self._kept[int(found[1])], text)
        return text

    def finish(self, markup: str) -> str:
        """Name places that links lead to by their titles, and put the footnotes at the end."""
        by_title = {title: id_ for id_, title in reversed(self.titles.items())}

        def link(found: re.Match[str]) -> str:
            id_ = found[1] if found[1] in self.titles else by_title.get(found[1], found[1])
            return f'<a href="#{escape(id_)}">{escape(self.titles.get(id_, f"[{id_}]"), quote=False)}</a>'

        notes = (
            f'<div class="footnote" id="_footnotedef_{n}"><a href="#_footnoteref_{n}">[{n}]</a> {note}</div>'
            for n, note in enumerate(self._notes, 1)
        )
        return _TITLED.sub(link, markup + "".join(notes))

    def _keep(self, markup: str) -> str:
        """Hide what no further rule may look into."""
        self._kept.append(markup)
        return f"\x02{len(self._kept) - 1}\x03"

    def _literal(self, found: re.Match[str]) -> str:
        kind = found.lastgroup or ""
        text = found[kind]
        if kind in ("mono", "mono2", "code"):
            shown = text if kind == "code" else self.fill(text)
            return self._keep(f"<code>{escape(shown, quote=False)}</code>")
        shown = text_of_markup(text) if kind == "raw" else text
        return self._keep(escape(shown.replace("\\]", "]"), quote=False))

    def _macro(self, found: re.Match[str]) -> str:
        name, target, inside = found[1], found[2], found[3].replace("\\]", "]")
        if name in ("http", "https", "ftp", "irc") and target.startswith("//"):
            return self._link(f"{name}:{target}", _label(inside))
        if name in ("link", "mailto"):
            return self._link(target if name == "link" else f"mailto:{target}", _label(inside) or target)
        if name == "xref":
            return self._cross(target, _label(inside))
        if name in ("image", "kbd", "btn", "indexterm2"):
            return _label(inside)
        if name == "menu":
            return f"{target} &gt; {inside}" if inside else target
        if name == "anchor":
            return self._keep(f'<a id="{escape(target)}"></a>')
        if name in ("footnote", "footnoteref") and inside:
            self._notes.append(inside)
            mark = f"_{len(self._notes)}"
            link = f'<a id="_footnoteref{mark}" href="#_footnotedef{mark}">[{mark[1:]}]</a>'
            return self._keep(f'<sup class="footnote">{link}</sup>')
        return "" if name in ("icon", "indexterm", "footnote", "footnoteref") else found[0]

    def _address(self, found: re.Match[str]) -> str:
        href = found[1].rstrip(".,;:!?)")
        return self._link(href, "") + found[1][len(href) :]

    def _cross(self, target: str, label: str) -> str:
        if "#" not in target and not target.endswith((".adoc", ".html")):
            target = f"#{target}"
        if not label and target.startswith("#"):
            return self._keep(f"\x04{unescape(target[1:])}\x04")
        return self._link(target, label or target)

    def _anchor(self, found: re.Match[str]) -> str:
        return self._keep(f'<a id="{found[2]}"></a>') + (f"[{found[2]}]" if found[1] else "")

    def _link(self, href: str, label: str) -> str:
        return self._keep(f'<a href="{escape(unescape(href))}">') + (label or href) + self._keep("</a>")


def _label(inside: str) -> str:
    """Return the text among the attributes of a macro."""
    text = inside.strip()
    if text.startswith('"') and '"' in text[1:]:
        return text[1:].partition('"')[0]
    if named := _WITH_NAMES.search(text):
        text = text[: named.start()].partition(",")[0]
    return text.removesuffix("^").strip()


def chosen_lines(lines: Sequence[str], included: dict[str, None], left_out: list[str]) -> Iterator[str]:
    """Yield the lines that conditions leave; of attributes those count that the document itself sets.

    Args: included: takes up the files that it includes; left_out: the other lines.
    """
    known, waiting = Inline(), list[bool]()
    for line in lines:
        found = _DIRECTIVE.match(line)
        if found is None or found[1]:
            if all(waiting):
                if entry := ENTRY.match(line):
                    known.define(entry[1], entry[2] or "")
                yield line[1:].rstrip() if found else line.rstrip()
            else:
                left_out.append(line)
        elif found[2] == "endif":
            waiting = waiting[:-1]
        elif found[2] == "ifeval" or (found[2] != "include" and not found[4]):
            waiting.append(_holds(found, known))
        elif all(waiting) and found[2] == "include":
            included[known.fill(found[3])] = None
        elif all(waiting) and _holds(found, known):
            yield found[4]
        else:
            left_out.append(found[4])


def _holds(found: re.Match[str], known: Inline) -> bool:
    if found[2] == "ifeval":  # what it compares by size is shown
        compared = _COMPARED.match(known.fill(found[4]))
        return compared is None or (compared[1] == compared[3]) == (compared[2] == "==")
    names = [name.lower() in known.attributes for name in re.split(r"[,+]", found[3].strip())]
    return (all(names) if "+" in found[3] else any(names)) == (found[2] == "ifdef")
