"""Manual pages in man(7) and mdoc(7): made into HTML, which one reader knows for all formats.

Sources: groff_man(7); mdoc(7) and tbl(7) of mandoc.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from html import escape

from ingest.parse.formats.mdoc import MACROS, MdocLine
from ingest.parse.formats.roff import JOIN, Roff, macro_names, split_arguments
from ingest.parse.formats.sniffing import CONDITION, is_binary, unpack_text
from ingest.parse.secrets import find_in_source
from schemas.formats import DocumentFormat, ParseTools, document_name, media_type
from schemas.fragment import GraphFragment, ParseRequest

_SECTIONS = tuple(f".{number}{more}" for number in range(1, 10) for more in ("", "p", "pm", "ssl", "x"))
_TYPES = ("application/x-troff-man", "application/x-troff", "text/troff")
_START = re.compile(
    rb"(?:[.']\\?[\"#].*\n|[.'][ \t\r]*\n|[ \t\r\f\v]*\n)*"  # blank lines match in one way only
    rb"[.'][ \t]*(?:TH|Dd|Dt|so|if|ie|de|ds|nr|nh|ad|hy|EX)\b|[.']\\\""
)
_FOLDER = re.compile(r"(.*/)?man(\d)\w*/[^/]*$")
_REFERENCE = re.compile(r"(?<![\w.-])([A-Za-z_][\w.:+@-]*)\((\d[a-z]{0,4})\)")
_ADDRESS = re.compile(r"https?://(?:(?!&[lg]t;)[^\s<>\"'\x06])*[\w/=#-]")
_BULLETS = frozenset("•*-o·○+")
_JOINED = re.compile(rf" ?{JOIN} ?")
_BREAK = "\x07"
_ALTERNATE = macro_names("BR BI IB IR RB RI")
_SILENT = macro_names(
    "PD ad na hy nh ne ta ll ft ps vs ns rs tr nr rm rr rn als mso lf pc cc c2 ec eo bp hw hla ss cs fam "
    "device defcolor ul cu AT UC DT PU IX lt pl po mk rt wh fp it ev di da ch bd uf nx shift return tm write "
    "Os Sm Bk Ek Tg Rs Re YS fchar evc warn pso open close color hpf hcode"
)
_STANDARD = {
    "Ex": "The {} utility exits 0 on success, and >0 if an error occurs.",
    "Rv": "The {} function returns the value 0 if successful; otherwise the value -1 is returned and the "
    "global variable errno is set to indicate the error.",
}
_LISTED = ("tag", "inset", "ohang", "hang", "diag")


def _recognise(head: bytes, content_type: str, name: str) -> bool:
    stem = name.removesuffix(".gz")
    is_named = stem.endswith(_SECTIONS) or media_type(content_type) in _TYPES
    text = unpack_text(head, max_bytes=len(head) * 50, is_whole=False, subject="") if is_named else b""
    return is_named and _START.match(text) is not None and not is_binary(text)


def _parse(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.html.whole import assemble_markup, decode_text

    roff = Roff(decode_text(unpack_text(data, subject=request.uri), request))
    markup = _Page(roff, document_name(request.path, request.url or request.uri)).html()
    tools.left_out.add((CONDITION, line) for line in roff.left_out)
    cut = ("its macros or strings stand for too much; the rest was left out",) if roff.is_cut else ()
    return assemble_markup(markup, request, tools, kind=FORMAT.name, warnings=cut)


def man_to_html(text: str) -> str:
    """Return a page as the body of one of HTML."""
    return _Page(Roff(text), "").html()


class _Page:
    """Hears the macros of one page; a paragraph is gathered until something ends it."""

    def __init__(self, roff: Roff, place: str) -> None:
        self._roff, self._place = roff, place
        self._mdoc = MdocLine(roff.plain)
        self._out: list[str] = []
        self._text: list[str] = []
        self._open: list[str] = [""]  # the list that is open, at each depth of indentation
        self._kinds: list[str] = []  # of lists of mdoc
        self._is_code = self._awaits_term = False
        self._heading = 0
        self._link = ""
        self._ids: Counter[str] = Counter()

    def html(self) -> str:
        for name, rest in self._roff.events():
            if name:
                self._request(name, rest)
            else:
                self._say(self._roff.plain(rest), is_line=True)
        self._close(1)
        return "".join(self._out)

    def _request(self, name: str, rest: str) -> None:
        words = split_arguments(rest)  # of mdoc(7), in which `\\&.` is no sign, as they are written
        if name in MACROS:
            if said := self._mdoc.read([name, *words]):
                self._say(said, is_line=True)
        elif (hear := _HEARD.get(name)) is not None:
            hear(self, name, words if name in _MDOC else [self._roff.plain(word) for word in words])
        elif name not in _SILENT:
            self._say(" ".join(map(self._roff.plain, words)), is_line=True)

    def _font(self, name: str, words: list[str]) -> None:
        if words:
            self._say(("" if name in _ALTERNATE else " ").join(words), is_line=True)

    def _section(self, name: str, words: list[str]) -> None:
        self._close(1)
        self._heading = 2 if name.upper() == "SH" else 3
        if words:
            self._say(" ".join(words) if name.isupper() else self._mdoc.read(words), is_line=True)

    def _paragraph(self, name: str, _words: list[str]) -> None:
        self._flush()
        if name not in ("Pp", "sp", "Sp", "ti"):
            self._leave_list()

    def _break(self, _name: str, _words: list[str]) -> None:
        self._text += [_BREAK]

    def _term(self, name: str, words: list[str]) -> None:
        self._flush()
        self._awaits_term = name != "IP"
        if name == "IP":
            self._item(next(iter(words), ""))

    def _indent(self, name: str, _words: list[str]) -> None:
        self._flush()
        self._open.append("") if name == "RS" else self._close(max(1, len(self._open) - 1))

    def _code(self, name: str, words: list[str]) -> None:
        self._flush()
        self._is_code = name in ("nf", "EX", "Vb") or (
            name == "Bd" and not {"-filled", "-ragged"} & set(words)
        )

    def _address(self, name: str, words: list[str]) -> None:
        if name in ("UR", "MT"):
            self._link = next(iter(words), "")
        else:
            self._say(f"<{self._link}>{JOIN}{' '.join(words)}" if words else f"<{self._link}>", is_line=True)

    def _synopsis(self, name: str, words: list[str]) -> None:
        if name == "SY":
            self._flush()
        self._say(" ".join(words) if name == "SY" else f"[{' '.join(words)}]")

    def _tabulate(self, _name: str, _words: list[str]) -> None:
        self._flush()
        self._out.append(self._table(list(self._roff.take_until(".TE"))))

    def _other_page(self, _name: str, words: list[str]) -> None:
        self._say(re.sub(r".*?([^/]+)\.(\w+)$", r"\1(\2)", next(iter(words), "")))

    def _date(self, _name: str, words: list[str]) -> None:
        self._text += [" ".join(words).removeprefix("$Mdocdate:").rstrip("$ ")]

    def _mdoc_list(self, name: str, words: list[str]) -> None:
        kind = next((word[1:] for word in words if word.startswith("-")), "item")
        self._kinds = [*self._kinds, kind] if name == "Bl" else self._kinds[:-1]
        self._indent("RS" if name == "Bl" else "RE", words)

    def _mdoc_item(self, _name: str, words: list[str]) -> None:
        kind = next(reversed(self._kinds), "tag")
        self._flush()
        if kind in _LISTED:
            self._item(self._mdoc.read(words), is_term=True)
        elif kind == "column":
            self._say(self._mdoc.read(words))
        else:
            self._item("1." if kind == "enum" else "•")

    def _mdoc_line(self, name: str, words: list[str]) -> None:
        """Take up a line that stands for itself (`D1`), a description, a part of a reference."""
        said = self._mdoc.read(words)
        if name in ("D1", "Dl"):
            self._flush()
            self._is_code = name == "Dl"
            self._say(said)
            self._code("Ed", [])
        elif name in ("Ex", "Rv"):
            self._say(_STANDARD[name].format(self._mdoc.name))
        elif name in ("Fo", "Fc"):
            self._say(f"{said}({JOIN}" if name == "Fo" else f"{JOIN})")
        else:
            self._say(f"— {said}" if name == "Nd" else said)

    def _title(self, _name: str, words: list[str]) -> None:
        """Begin the page: `TH name section date source manual`."""
        name = f"{words[0]}({words[1]})" if len(words) > 1 else next(iter(words), "")
        about = ", ".join(filter(None, (*words[4:5], *words[3:4], *words[2:3], *self._text)))
        self._text = []
        self._out.append(f"<h1>{escape(name)}</h1>" + (f"<p>{escape(about)}</p>" if about else ""))

    def _say(self, text: str, *, is_line: bool = False) -> None:
        """Take up a text; as a line of its own it may be a heading or a term."""
        if is_line and self._heading and text.strip():
            level, self._heading = self._heading, 0
            self._out.append(f'<h{level} id="{escape(self._id(text))}">{self._linked(text)}</h{level}>')
        elif is_line and self._awaits_term:
            self._awaits_term = False
            self._item(text, is_term=True)
        elif self._is_code:
            self._text.append(f"{text}\n")
        elif not text.strip():
            self._flush()
        else:
            self._text += [_BREAK, text] if text.startswith(" ") else [text]

    def _id(self, heading: str) -> str:
        """Return the id that mandoc gives a heading: its words with `_`; the second of equals gets `~2`."""
        name = _JOINED.sub("", heading).strip().replace(" ", "_")
        self._ids[name] += 1
        return name if self._ids[name] == 1 else f"{name}~{self._ids[name]}"

    def _item(self, mark: str, *, is_term: bool = False) -> None:
        """Begin an item of a list; an empty mark goes on with the one before."""
        mark = _JOINED.sub("", mark).strip()
        if not mark and self._open[-1]:
            return
        is_bullet = not is_term and (mark in _BULLETS or not mark)
        is_number = not is_term and re.fullmatch(r"[(\[]?\d{1,3}[.)\]]?", mark) is not None
        tag = "ul" if is_bullet else "ol" if is_number else "dl"
        if self._open[-1] != tag:
            self._leave_list()
            start = re.sub(r"\D", "", mark)
            self._out.append(f'<ol start="{start}">' if is_number else f"<{tag}>")
            self._open[-1] = tag
        else:
            self._out.append("</dd>" if tag == "dl" else "</li>")
        self._out.append(f"<dt>{self._linked(mark)}</dt><dd>" if tag == "dl" else "<li>")

    def _leave_list(self) -> None:
        if tag := self._open[-1]:
            self._out.append(f"</dd></{tag}>" if tag == "dl" else f"</li></{tag}>")
            self._open[-1] = ""

    def _close(self, depth: int) -> None:
        """End what is open below *depth*, and the paragraph."""
        self._flush()
        while len(self._open) > depth:
            self._leave_list()
            self._open.pop()
        if depth == 1:
            self._leave_list()

    def _flush(self) -> None:
        text, self._text = self._text, []
        if self._is_code:
            shown = _JOINED.sub("", "".join(one for one in text if one != _BREAK)).strip("\n")
            self._out.append(f"<pre>\n{escape(shown, quote=False)}</pre>\n" if shown.strip() else "")
        elif shown := self._linked(" ".join(text)).strip(f"{_BREAK} "):
            self._out.append(f"<p>{re.sub(f'[ {_BREAK}]*{_BREAK}[ {_BREAK}]*', '<br>', shown)}</p>\n")

    def _linked(self, text: str) -> str:
        """Return a text as HTML, in which the names of pages and addresses are links."""
        shown = _JOINED.sub("", escape(text, quote=False))
        shown = _ADDRESS.sub(lambda found: f'<a href="{found[0]}">{found[0]}</a>', shown)
        return _REFERENCE.sub(
            lambda found: f'<a href="{self._href(found[1], found[2])}">{found[0]}</a>', shown
        )

    def _href(self, name: str, section: str) -> str:
        """Return where another page lies: beside this one, or in the folder of its own section."""
        packed = ".gz" if self._place.endswith(".gz") else ""
        found = _FOLDER.match(self._place)
        folder = f"../man{section[0]}/" if found and found[2] != section[0] else "./"
        return escape(f"{folder}{name}.{section}{packed}")

    def _table(self, lines: list[str]) -> str:
        """Return a table of tbl: options up to `;`, formats up to `.`, then a row a line."""
        sign, rows = "\t", list[list[str]]()
        if lines and lines[0].rstrip().endswith(";"):
            found = re.search(r"tab ?\((.)\)", lines.pop(0))
            sign = found[1] if found else sign
        is_format = True
        for line in _joined_blocks(lines):
            if is_format or line.startswith(".T&"):
                is_format = not line.rstrip().endswith(".")
            elif set(line.strip()) - set("_=") and not line.startswith((".", "'")):
                rows.append([self._roff.plain(cell).strip() for cell in line.split(sign)])
        made = ("".join(f"<td>{self._linked(cell)}</td>" for cell in row) for row in rows)
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in made)}</table>\n"


def _joined_blocks(lines: list[str]) -> Iterator[str]:
    """Yield the rows of a table; a cell between `T{` and `T}` may have several lines."""
    row, is_inside = "", False
    for line in lines:
        if is_inside and line.startswith("T}"):
            is_inside, row = line.rstrip().endswith("T{"), row + line[2:].removesuffix("T{")
        elif is_inside:
            row += "" if re.match(r"[.'][a-z]", line) else f" {re.sub(r'^[.][A-Z]+ ?', '', line)}"
        else:
            is_inside, row = line.rstrip().endswith("T{"), line.rstrip().removesuffix("T{")
        if not is_inside:
            yield row
    if is_inside:
        yield row


_Hear = Callable[[_Page, str, list[str]], None]

_HEARD: dict[str, _Hear] = {
    name: hear
    for names, hear in (
        ("B I R SM SB BR BI IB IR RB RI", _Page._font),
        ("SH SS Sh Ss", _Page._section),
        ("TH Dt", _Page._title),
        ("PP P LP HP Pp sp Sp ti", _Page._paragraph),
        ("br in ce", _Page._break),
        ("TP TQ IP", _Page._term),
        ("RS RE", _Page._indent),
        ("nf EX Vb fi EE Ve Bd Ed", _Page._code),
        ("UR UE MT ME", _Page._address),
        ("SY OP", _Page._synopsis),
        ("TS", _Page._tabulate),
        ("so", _Page._other_page),
        ("Dd", _Page._date),
        ("Bl El", _Page._mdoc_list),
        ("It", _Page._mdoc_item),
        ("D1 Dl Nd Ex Rv Fo Fc %A %B %C %D %I %J %N %O %P %Q %R %T %U %V", _Page._mdoc_line),
    )
    for name in names.split()
}
"""What hears the arguments of a macro."""

_MDOC = macro_names("Sh Ss Bl El It D1 Dl Nd Fo Fc %A %B %C %D %I %J %N %O %P %Q %R %T %U %V")

FORMAT = DocumentFormat(
    name="man",
    version="1",
    parse=_parse,
    recognise=_recognise,
    shared_suffixes=(*_SECTIONS, *(f"{one}.gz" for one in _SECTIONS)),
    media_types=_TYPES,
    shared_types=("text/plain", "application/gzip", "application/x-gzip"),
    unread_secrets=lambda data: find_in_source(unpack_text(data, subject="")),
)
