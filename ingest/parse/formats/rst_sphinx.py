"""Directives and roles of Sphinx that files of reStructuredText use and docutils does not know.

Without them docutils would put a complaint in the place of the text.
Source: the lists of directives and roles in Sphinx's manual.
"""

import re
from functools import cache
from itertools import dropwhile
from textwrap import dedent
from typing import Any, ClassVar

from ingest.parse.html.visibility import word_set

_NOTES = word_set("seealso versionadded versionchanged deprecated deprecated-removed versionremoved todo")
_SILENT = word_set(
    "toctree index highlight currentmodule module py:module autosummary tabularcolumns default-domain "
    "default-role bibliography sectionauthor codeauthor"
)
_CODE = word_set(
    "doctest testcode testsetup testoutput productionlist prompt ipython mermaid graphviz plantuml uml "
    "digraph jupyter-execute plot parsed-code"
)
_TITLED_CODE = word_set("code-tab")
_TAKES_IN = word_set("literalinclude include")
_CONDITIONS = word_set("only ifconfig grid tabs tab-set")
"""What their argument says is nobody's to read: when, or how, the text in them is shown."""

_CODE_OPTIONS = word_set("linenos lineno-start emphasize-lines caption dedent force")
_OBJECTS = word_set(
    "function class method staticmethod classmethod attribute property data exception option envvar program "
    "confval describe object glossary automodule autoclass autofunction automethod autodata autoattribute "
    "autoexception autodecorator autoproperty"
)
TAKEN_IN = "taken-in"
"""Class of the name of a file that the text takes in."""

_RULE = re.compile(r"([^\w\s])\1*")
_OPTION = re.compile(r"\s*:[\w-]+:")
_ROLES = word_set(
    "ref doc any term func class meth mod attr obj exc data const keyword option envvar file samp command "
    "program kbd guilabel menuselection numref dfn abbr download makevar mimetype manpage token pep rfc "
    "issue confval eq cite"
)
_ANY = "container-of-any-name"
_DOMAINS = ("", "py:", "c:", "cpp:", "js:", "std:", "rst:")


@cache
def register_sphinx() -> None:
    """Make docutils read them: text in notes stays, code stays code, the title of a reference is its text."""
    from docutils.parsers.rst import directives, roles

    known = _directives()
    for name, directive in known.items():
        directives.register_directive(name, directive)
    find = directives.directive

    def directive_of(name: str, *where: Any) -> tuple[Any, list[Any]]:
        """Return what reads a directive: of one that nobody knows, what stands in it."""
        found, messages = find(name, *where)
        return (found, messages) if found is not None else (known[_ANY], [])

    # docutils asks this function alone, and has no place to say what an unknown name is.
    directives.directive = directive_of  # type: ignore[assignment]
    for role in sorted(_ROLES):
        for domain in _DOMAINS:
            if domain or role not in {"pep", "rfc"}:  # docutils knows these two
                roles.register_local_role(f"{domain}{role}", _reference)


_REFUSED = 3
"""Level of a complaint about what is written wrongly; below are those about what may not be read."""


def quoting_writer() -> Any:
    """Make a writer of HTML that shows what docutils quotes in complaints, such as a table drawn badly."""
    from docutils import nodes
    from docutils.transforms import Transform
    from docutils.writers.html5_polyglot import Writer

    class Quoted(Transform):
        """Puts text that is written wrongly in the place of the complaint about it."""

        default_priority = 850  # before complaints are dropped

        def apply(self) -> None:
            for complaint in list(self.document.findall(nodes.system_message)):
                quoted = [_shown(one) for one in complaint.findall(nodes.literal_block)]
                if quoted and complaint["level"] >= _REFUSED and complaint.parent is not None:
                    at = complaint.parent.index(complaint)
                    complaint.parent[at : at + 1] = quoted

    def _shown(quoted: Any) -> Any:
        title, _, rule = quoted.astext().rpartition("\n")
        return nodes.paragraph("", title.strip()) if _RULE.fullmatch(rule) and "\n" not in title else quoted

    class Quoting(Writer):
        def get_transforms(self) -> list[Any]:
            return [*super().get_transforms(), Quoted]

    return Quoting()


def _reference(_name: str, rawtext: str, text: str, *_: Any, **__: Any) -> tuple[list[Any], list[Any]]:
    """Show a reference as its title: of `title <target>` what stands before, of `~a.b.c` the last part."""
    from docutils import nodes, utils

    plain = utils.unescape(text)
    if plain.endswith(">") and " <" in plain:
        plain = plain.rpartition(" <")[0]
    elif plain.startswith("~"):
        plain = plain.rpartition(".")[2].removeprefix("~")
    return [nodes.inline(rawtext, plain.lstrip("!~"))], []


def _directives() -> dict[str, Any]:
    from docutils import nodes
    from docutils.parsers.rst import Directive, directives
    from docutils.parsers.rst.directives.body import CodeBlock

    class Note(Directive):
        """A note with its name, its argument and what stands in it."""

        has_content, optional_arguments, final_argument_whitespace = True, 1, True

        def run(self) -> list[Any]:
            box = nodes.admonition(classes=["note"])
            first, _, rest = (self.arguments or [""])[0].partition("\n")
            box += nodes.title("", f"{self.name} {first}".strip())
            if rest:
                box += nodes.paragraph("", "", *self.state.inline_text(rest, self.lineno)[0])
            self.state.nested_parse(self.content, self.content_offset, box)
            return [box]

    class Described(Directive):
        """What declares a function or a term: its signature, and what is said about it."""

        has_content, optional_arguments, final_argument_whitespace = True, 1, True

        def run(self) -> list[Any]:
            said = nodes.container()
            lines = (self.arguments or [""])[0].splitlines()
            for line in (one for one in lines if not one.startswith(":")):  # its options
                said += nodes.paragraph("", "", nodes.literal(line, line.strip()))
            self.state.nested_parse(self.content, self.content_offset, said)
            return [said]

    class Code(Directive):
        """Code without a language that is known, with or without a line above it; no file is read."""

        has_content, optional_arguments, final_argument_whitespace = True, 1, True

        def run(self) -> list[Any]:
            below = dedent("\n".join(self.block_text.splitlines()[1:])).splitlines()
            text = "\n".join(dropwhile(_OPTION.match, below)).strip("\n")
            return [nodes.literal_block(text, text)] if text.strip() else []

    class Highlighted(CodeBlock):
        """Code with the options that Sphinx has for it; its caption stands before it."""

        option_spec: ClassVar[Any] = {
            **(CodeBlock.option_spec or {}),
            **dict.fromkeys(_CODE_OPTIONS, directives.unchanged),
        }

        def run(self) -> list[Any]:
            caption = self.options.get("caption")
            code: list[Any] = super().run()  # type: ignore[no-untyped-call]
            return [nodes.paragraph(caption, caption), *code] if caption else code

    class Titled(Directive):
        """What holds text under a title: tabs, cards, fold-outs, and what is not known."""

        has_content, optional_arguments, final_argument_whitespace = True, 1, True

        def run(self) -> list[Any]:
            lines = [] if self.name in _CONDITIONS else (self.arguments or [""])[0].splitlines()
            said = [line for line in lines if not _OPTION.match(line) and any(map(str.isalpha, line))]
            box = nodes.container()
            if said and self.name in _TITLED_CODE:
                said = said[0].split(None, 1)[1:]
            if said:
                title, messages = self.state.inline_text(" ".join(said), self.lineno)
                box += nodes.container("", nodes.paragraph("", "", *title), classes=["admonition-title"])
                box += messages
            if self.name in _TITLED_CODE:
                text = "\n".join(self.content)
                return [box, nodes.literal_block(text, text)]
            self.state.nested_parse(self.content, self.content_offset, box)
            return [box]

    class TakenIn(Directive):
        """A file beside it, which is not read; a mark says so."""

        has_content, optional_arguments, final_argument_whitespace = True, 1, True

        def run(self) -> list[Any]:
            name = (self.arguments or [""])[0].partition("\n")[0]
            return [nodes.paragraph("", name, classes=[TAKEN_IN])] if name else []

    class Nothing(Directive):
        """What lists or switches something, and says nothing itself."""

        has_content, optional_arguments, final_argument_whitespace = True, 1, True

        def run(self) -> list[Any]:
            return []

    found: dict[str, Any] = {**dict.fromkeys(_SILENT, Nothing), **dict.fromkeys(_CODE, Code)}
    found |= dict.fromkeys(("code", "code-block", "sourcecode"), Highlighted)
    found |= dict.fromkeys(_TAKES_IN, TakenIn) | dict.fromkeys((_ANY, *_CONDITIONS, *_TITLED_CODE), Titled)
    described = dict.fromkeys((f"{domain}{name}" for domain in _DOMAINS for name in _OBJECTS), Described)
    return found | dict.fromkeys(_NOTES, Note) | described
