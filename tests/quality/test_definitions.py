"""Entries of real manuals: each opens at its own id, keeps its description, and defines what it is called.

`own_anchor` is the share of objects whose passage, the one with the signature, opens at the id that the
page has for them. `bare_terms` counts passages of a PDF that end in a term of the same manual in HTML.
`explained` is the share of commands with an entry of their own that a tool of their name is led to, and
`defines` the share of edges saying so that are right.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest
from lxml import html

from ingest.parse.html.visibility import word_set
from ingest.parse.tools.file import parse_tools
from schemas.edges import EvidenceRole
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk, Tool
from tests.quality.floors import hold
from tests.quality.html_sites import SOURCES, Site, parse
from tests.quality.pdf_documents import Twin, load_twins, parse_file
from tests.quality.test_tools import cut, explained, unpack

pytestmark = [pytest.mark.long, pytest.mark.data, pytest.mark.timeout(900)]

BUILTINS = word_set(
    ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs "
    "disown echo enable eval exec exit export fc fg getopts hash help history jobs kill let local logout "
    "mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times "
    "trap type typeset ulimit umask unalias unset wait"
)
"""Builtins of bash that its manual has an entry for; `true` and `false` have none."""

_OBJECT = re.compile(r"(?P<name>.+?) (?P<role>\S+:\S+) -?\d+ (?P<place>\S*) .*")
_NO_SIGNATURE = ("std:doc", "std:label", "py:module")


@pytest.mark.parametrize("name", ["flask-3.1", "flask-2.2", "requests-2.32"])
def test_the_passage_with_a_signature_opens_at_the_id_of_the_object(
    name: str, tmp_path: Path, figures: list[str]
) -> None:
    site = Site(SOURCES[name], tmp_path)
    wanted = set(_objects(site))
    right = [one for one in wanted if _opens(site.fragments[one[0]].chunks, one[1], one[2])]
    hold(figures, "definitions", f"{name}.own_anchor", len(right) / len(wanted), note=f"of {len(wanted)}")


def test_a_setting_of_postgresql_opens_at_its_own_id(tmp_path: Path, figures: list[str]) -> None:
    site = Site(SOURCES["postgresql"], tmp_path)
    settings = {name: page for name, page in site.pages.items() if name.startswith("runtime-config-")}
    wanted = [
        (name, term.get("id"), "".join(term.itertext()).split()[0])
        for name, page in settings.items()
        for term in html.fromstring(page).iter("dt")
        if term.get("id")
    ]
    read = {name: parse(page, f"http://docs.example/{name}").chunks for name, page in settings.items()}
    right = [name for name, anchor, word in wanted if _opens(read[name], anchor, word)]
    hold(figures, "definitions", "postgresql.own_anchor", len(right) / len(wanted), note=f"of {len(wanted)}")


def test_no_term_of_a_pdf_is_parted_from_its_description(figures: list[str]) -> None:
    terms = {" ".join(term.text_content().replace("¶", "").split()) for term in _terms(_manual().html)}
    chunks = _bash()["bashref.pdf"].chunks
    bare = [chunk for chunk in chunks if " ".join(chunk.text.strip().split("\n\n")[-1].split()) in terms]
    hold(figures, "definitions_at_most", "bash.bare_terms", len(bare), note=f"of {len(chunks)} passages")


@pytest.mark.parametrize("document", ["bashref.html", "bash.html", "bashref.pdf"])
def test_tools_of_one_common_word_are_led_to_their_own_entry(document: str, figures: list[str]) -> None:
    fragment = _bash()[document]
    chunks = {chunk.id: chunk for chunk in fragment.chunks}
    names = {tool.id: tool.name for tool in _tools(BUILTINS)}
    edges = explained([fragment], _tools(BUILTINS), with_ids=True)
    defining = [
        (names[edge.src], chunks[edge.chunk or ""])
        for found in edges.values()
        for edge in found
        if edge.role is EvidenceRole.DEFINES
    ]
    right = [name for name, chunk in defining if _is_entry_of(name, chunk)]
    note = f"of {len(BUILTINS)}"
    hold(figures, "definitions", f"{document}.explained", len(right) / len(BUILTINS), note=note)
    hold(
        figures, "definitions", f"{document}.defines", len(right) / len(defining), note=f"of {len(defining)}"
    )


@cache
def _manual() -> Twin:
    return next(one for one in load_twins() if one.name == "bashref 5.2.15-2")


@cache
def _bash() -> Mapping[str, GraphFragment]:
    page = next(one for one in load_twins() if one.name == "bash 5.2.15-2")
    pages = {name.rpartition("/")[2]: data for one in (_manual(), page) for name, data in one.html}
    files = {**pages, "bashref.pdf": _manual().pdf}
    return {name: parse_file(data, name) for name, data in files.items()}


def _terms(pages: Iterable[tuple[str, bytes]]) -> Iterable[html.HtmlElement]:
    return (term for _, page in pages for term in html.fromstring(page).iter("dt"))


def _tools(names: Collection[str]) -> list[Tool]:
    listed = "".join(f"  - name: {name!r}\n" for name in sorted(names))
    nodes = parse_tools(f"tools:\n{listed}".encode(), source="q", path="o").nodes
    return [node for node in nodes if isinstance(node, Tool)]


def _is_entry_of(name: str, chunk: Chunk) -> bool:
    """Whether a passage stands in a chapter on builtins and holds the entry: a line begins with the name."""
    in_chapter = "builtin" in " ".join(chunk.heading_path).lower()
    lines = [re.split(r"[\s,:]+(?=\S)|:?$", line, maxsplit=1)[0] for line in chunk.text.splitlines()]
    return in_chapter and (name in lines or name in chunk.heading_path[-1].split(", "))


def _objects(site: Site) -> Iterable[tuple[str, str, str]]:
    """Page, id and last part of the name of everything that the inventory says a page declares."""
    for line in unpack(cut((site.folder / "objects.inv").read_bytes())[1]):
        match = _OBJECT.fullmatch(line)
        if match is None or match["role"] in _NO_SIGNATURE:
            continue
        page, _, anchor = match["place"].replace("$", match["name"]).partition("#")
        if f'id="{anchor}"'.encode() in site.pages.get(page, b""):
            yield page, anchor, re.split(r"[.: ]", match["name"])[-1]


def _opens(chunks: Iterable[Chunk], anchor: str, word: str) -> bool:
    return any(one.fragment == anchor and word.strip(",") in one.text.partition("\n")[0] for one in chunks)
