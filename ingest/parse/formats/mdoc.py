"""Macros of mdoc(7) within a line: their words, with the signs and spaces that they stand for.

Source: mdoc(7) of mandoc.
"""

from collections.abc import Callable, Sequence

from ingest.parse.formats.roff import JOIN, macro_names

_PAIRS = {"Op": "[]", "Dq": "“”", "Sq": "‘’", "Qq": '""', "Pq": "()", "Bq": "[]", "Brq": "{}", "Aq": "<>"}
_ENCLOSED: dict[str, Sequence[str]] = {
    **_PAIRS,
    **{f"{name[:-1]}o": pair[0] for name, pair in _PAIRS.items()},
    **{f"{name[:-1]}c": pair[1] for name, pair in _PAIRS.items()},
    **{"Ql": "‘’", "In": ("#include <", ">"), "Xo": "", "Xc": ""},
}
_SYSTEMS = {
    **{"At": "AT&T UNIX", "Bx": "BSD", "Bsx": "BSD/OS", "Dx": "DragonFly", "Fx": "FreeBSD", "Nx": "NetBSD"},
    **{"Ox": "OpenBSD", "Ux": "UNIX"},
}
_PLAIN = macro_names(
    "Ar Cm Ic Li Pa Ev Va Vt Fa Ft Em Sy Dv Er Ad An Tn Cd Ms No Lk Mt Nm Fl Fn Xr St Ns Pf Ap Lb Eo Ec "
    "Bk Ek Sx Fr Ta Tg Sm Fd Ot Cx"
)
MACROS = _PLAIN | _ENCLOSED.keys() | _SYSTEMS.keys()
"""Macros that may stand in the line of another."""

_CLOSING, _OPENING = frozenset(".,:;)]?!"), frozenset("([")
_CLOSING_JOINED = {f"{JOIN}{sign}" for sign in _CLOSING}


class MdocLine:
    """Reads lines of macros of one page; knows what it is about."""

    def __init__(self, plain: Callable[[str], str]) -> None:
        self.name = ""
        self._plain = plain

    def read(self, words: Sequence[str]) -> str:
        """Return the text of a macro with its arguments; `JOIN` stands where no space does."""
        said: list[str] = []
        at, ends = 0, list[str]()
        while at < len(words):
            word = words[at]
            at += 1
            if word not in MACROS:
                said.append(self._word(word))
                continue
            own: list[str] = []
            while at < len(words) and words[at] not in MACROS:
                own.append(words[at])
                at += 1
            signs = _ENCLOSED.get(word)
            if signs is None:
                said += self._said(word, own)
            elif len(signs) == 2:
                said += [signs[0], JOIN, *map(self._word, own)]
                ends.append(signs[1])
            else:
                pieces = [*signs, JOIN] if word[-1] == "o" else [JOIN, *signs]
                said += [*(pieces if signs else []), *map(self._word, own)]
        tail = _taken(said) if ends else []
        for sign in reversed(ends):
            said += [JOIN, sign]
        return " ".join([*said, *tail])

    def _word(self, word: str) -> str:
        if word in _CLOSING:
            return f"{JOIN}{word}"
        return f"{word}{JOIN}" if word in _OPENING else self._plain(word)

    def _said(self, macro: str, own: list[str]) -> list[str]:
        """Return the words of a macro that encloses nothing."""
        words = [self._word(word) for word in own]
        signs = _taken(words)
        match macro:
            case "Fl":
                words = [f"-{word}" for word in words] or [f"-{JOIN}"]
            case "Nm":
                self.name = self.name or " ".join(words)
                words = words or [self.name]
            case "Xr" if len(words) > 1:
                words = [f"{words[0]}({words[1]})", *words[2:]]
            case "Fn" if words:
                words = [f"{words[0]}({', '.join(words[1:])})"]
            case "Ar" if not words:
                words = ["file ..."]
            case "Ns":
                words = [JOIN, *words]
            case "Pf" if words:
                words = [words[0] + JOIN, *words[1:]]
            case "Ap":
                words = [f"{JOIN}'{JOIN}", *words]
            case "Lk" if len(words) > 1:
                words = [*words[1:], f"<{words[0]}>"]
            case "Bk" | "Ek" | "Tg" | "Sm" | "Eo" | "Ec" | "Ta":
                words = [] if macro != "Ta" else words
            case _ if macro in _SYSTEMS:
                words = [_SYSTEMS[macro], *words]
        return [*words, *signs]


def _taken(words: list[str]) -> list[str]:
    """Take the closing signs from the end of words."""
    end = len(words)
    while end and words[end - 1] in _CLOSING_JOINED:
        end -= 1
    taken, words[end:] = words[end:], []
    return taken
