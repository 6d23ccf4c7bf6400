"""Which formats there are: ours in their order, those of other packages between them."""

import subprocess
import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from ingest.parse.formats import registry
from ingest.parse.formats.registry import (
    document_version,
    document_versions,
    file_suffixes,
    formats_version,
    installed_formats,
    load_formats,
)
from schemas.errors import ConfigError
from schemas.formats import GROUP, DocumentFormat, ParseTools
from schemas.fragment import GraphFragment, ParseRequest

CLASSIC = ("pdf", "markdown", "html", "text")


def parse(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    raise AssertionError


def recognise(head: bytes, content_type: str, name: str) -> bool:
    return name.endswith(".note")


NOTE = DocumentFormat(name="note", version="7", parse=parse, recognise=recognise, suffixes=(".note",))
SECOND = DocumentFormat(name="note", version="1", parse=parse, recognise=recognise)
PDF = DocumentFormat(name="pdf", version="1", parse=parse, recognise=recognise)
SPACED = DocumentFormat(name="My Note", version="1", parse=parse, recognise=recognise)
UNVERSIONED = DocumentFormat(name="plain", parse=parse, recognise=recognise)
NUMBER = 42


@pytest.fixture(autouse=True)
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("a_package")
    module.__dict__.update(
        NOTE=NOTE, SECOND=SECOND, PDF=PDF, SPACED=SPACED, UNVERSIONED=UNVERSIONED, NUMBER=NUMBER
    )
    monkeypatch.setitem(sys.modules, "a_package", module)


def of(*names: str) -> list[EntryPoint]:
    return [EntryPoint(name=name.lower(), value=f"a_package:{name}", group=GROUP) for name in names]


def test_a_format_of_another_package_is_asked_before_those_that_take_any_text() -> None:
    names = [one.name for one in load_formats(of("NOTE"))]

    assert names.index("pdf") < names.index("note") < names.index("markdown")
    assert names[-3:] == ["markdown", "html", "text"]


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (("PDF",), "has the name of a format of sitegraph"),
        (("NOTE", "SECOND"), "has the name of a format of an unknown package"),
        (("SPACED",), "has the name 'My Note'"),
        (("UNVERSIONED",), "has the version ''"),
        (("NUMBER",), "is no schemas.formats.DocumentFormat"),
        (("MISSING",), "does not load .AttributeError"),
    ],
)
def test_a_format_that_cannot_be_is_an_error_that_names_it(names: tuple[str, ...], reason: str) -> None:
    with pytest.raises(ConfigError, match=rf"a_package:{names[-1]} {reason}.*uninstall"):
        load_formats(of(*names))


def test_listing_the_formats_imports_no_library_that_parses() -> None:
    code = (
        "import sys; from ingest.parse.formats.registry import file_suffixes; file_suffixes();"
        "heavy = {'lxml', 'pymupdf', 'markdown_it', 'mammoth', 'pptx', 'nbformat', 'docutils', 'prefect'};"
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert told.stdout == "[]\n"


@pytest.mark.parametrize("kind", [*CLASSIC, "tools", None])
def test_the_version_of_a_document_that_was_always_read_is_that_of_the_pipeline(kind: str | None) -> None:
    assert document_version("v1", kind) == "v1"


def test_a_format_that_comes_adds_a_version_and_changes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    before, refused = document_versions("v1"), formats_version()
    monkeypatch.setattr(registry, "installed_formats", lambda: load_formats(of("NOTE")))

    assert set(document_versions("v1")) == {*before, "v1 note-7"}
    assert document_version("v1", "note") == "v1 note-7"
    assert formats_version() != refused
    assert ".note" in file_suffixes()


def test_every_installed_format_has_a_name_of_its_own() -> None:
    names = [one.name for one in installed_formats()]

    assert len(names) == len(set(names))
    assert {*CLASSIC} <= {*names}
