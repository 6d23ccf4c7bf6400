"""Tools of real inventories, held against where the inventories say that they are defined.

The inventory that is read has its targets hidden: what is left are names and roles. Once more without the
ids of the pages, which are often the names: headings, signatures and words alone must lead there.
"""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.link.explained_by import explained_by_edges
from ingest.link.tool_names import tool_names
from ingest.parse.tools.file import parse_tools
from schemas.edges import Edge, EvidenceRole
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk, Section, Tool
from tests.quality.floors import hold
from tests.quality.html_sites import SOURCES, Site

pytestmark = [pytest.mark.long, pytest.mark.data, pytest.mark.timeout(600)]

_OBJECT = re.compile(r"(?P<name>.+?) (?P<role>\S+:\S+) (?P<priority>-?\d+) (?P<place>\S*) (?P<shown>.*)")
_SITES = ("flask-3.1", "flask-2.2", "requests-2.32", "requests-2.28")

Object = tuple[str, str]
"""Name and role."""


@pytest.mark.parametrize("name", _SITES)
@pytest.mark.parametrize("with_ids", [True, False], ids=["", "without_ids"])
def test_the_definition_of_an_object_is_found_first(
    name: str, with_ids: bool, tmp_path: Path, figures: list[str]
) -> None:
    site = Site(SOURCES[name], tmp_path)
    packed = (site.folder / "objects.inv").read_bytes()
    fragments = [fragment for fragment in site.fragments.values() if not fragment.noindex]
    tools = [
        node for node in parse_tools(hidden(packed), source="q", path="o").nodes if isinstance(node, Tool)
    ]
    gold = defined_at(site, packed)

    edges = explained(fragments, tools, with_ids=with_ids)

    wanted = {tool.id: gold[object_] for tool in tools if (object_ := (tool.name, tool.tool_type)) in gold}
    said = {id_: ranked[0] for id_, ranked in edges.items() if id_ in wanted}
    right = [id_ for id_, edge in said.items() if edge.dst in wanted[id_]]
    defining = [edge for ranked in edges.values() for edge in ranked if edge.role is EvidenceRole.DEFINES]
    of_all = sum(map(len, edges.values()))
    figures.append(
        f"  {name}: {of_all} edges from {len(tools)} tools, {len(defining)} say that they define one"
    )
    group = name if with_ids else f"{name}.without_ids"
    hold(figures, "tools", f"{group}.precision", len(right) / len(said), note=f"of {len(said)}")
    hold(figures, "tools", f"{group}.recall", len(right) / len(wanted), note=f"of {len(wanted)}")
    truly = [edge for edge in defining if edge.dst in wanted.get(edge.src, ())]
    hold(figures, "tools", f"{group}.defines", len(truly) / len(defining), note=f"of {len(defining)}")


def test_a_manual_page_defines_its_command(tmp_path: Path, figures: list[str]) -> None:
    """All that is told of a command is `git NAME`; whose page is best is told by the title alone."""
    site = Site(SOURCES["git"], tmp_path)
    pages = {name.removesuffix(".html"): fragment for name, fragment in site.fragments.items()}
    own = {
        name.replace("-", " ", 1): fragment.doc
        for name, fragment in pages.items()
        if name.startswith("git-") and fragment.title.startswith(f"{name}(1)")
    }
    listed = "".join(f"  - name: {name}\n" for name in sorted(own))
    tools = [
        node
        for node in parse_tools(f"tools:\n{listed}".encode(), source="q", path="o").nodes
        if isinstance(node, Tool)
    ]

    edges = explained(site.fragments.values(), tools, with_ids=True)

    right = [tool for tool in tools if tool.id in edges and edges[tool.id][0].doc == own[tool.name]]
    hold(figures, "tools", "git.own_page", len(right) / len(tools), note=f"of {len(tools)}")
    names = {tool.id: tool.name for tool in tools}
    defining = [edge for found in edges.values() for edge in found if edge.role is EvidenceRole.DEFINES]
    truly = [edge for edge in defining if edge.doc == own[names[edge.src]]]
    hold(figures, "tools", "git.defines", len(truly) / len(defining), note=f"of {len(defining)}")


def hidden(inventory: bytes) -> bytes:
    """The same inventory with no place in it."""
    header, packed = cut(inventory)
    lines = (_OBJECT.sub(r"\g<name> \g<role> \g<priority> hidden \g<shown>", line) for line in unpack(packed))
    return header + zlib.compress("\n".join(lines).encode())


def defined_at(site: Site, inventory: bytes) -> Mapping[Object, frozenset[str]]:
    """Sections and chunks that have the id where an object of an API is said to stand, if the page has it."""
    marked: dict[tuple[str, str], set[str]] = {}
    for page, fragment in site.fragments.items():
        for id_, anchor in anchors(fragment):
            marked.setdefault((page, anchor), set()).add(id_)
    found: dict[Object, frozenset[str]] = {}
    for line in unpack(cut(inventory)[1]):
        match = _OBJECT.fullmatch(line)
        if match is None or match["role"].startswith("std:"):
            continue
        page, _, anchor = match["place"].replace("$", match["name"]).partition("#")
        if f'id="{anchor}"'.encode() in site.pages.get(page, b""):
            found[match["name"], match["role"]] = frozenset(marked.get((page, anchor), ()))
    return found


def anchors(fragment: GraphFragment) -> Iterator[tuple[str, str]]:
    """Every section and chunk with each of its ids."""
    for chunk in fragment.chunks:
        yield from ((chunk.id, anchor) for anchor in (chunk.fragment, *chunk.fragments) if anchor)
    for node in fragment.nodes:
        if isinstance(node, Section) and node.fragment:
            yield node.id, node.fragment


def explained(
    fragments: Iterable[GraphFragment], tools: Iterable[Tool], *, with_ids: bool
) -> Mapping[str, list[Edge]]:
    """Edges of each tool over all pages, the best first; every text shown stands in its chunk."""
    names, found = tool_names(tools), dict[str, list[Edge]]()
    for fragment in fragments:
        texts = {chunk.id: chunk.text for chunk in fragment.chunks}
        chunks = fragment.chunks if with_ids else tuple(map(without_ids, fragment.chunks))
        for edge in explained_by_edges(chunks, names, source="q"):
            assert edge.text
            assert edge.text in texts[edge.chunk or ""]
            found.setdefault(edge.src, []).append(edge)
    return {
        tool: sorted(edges, key=lambda edge: (-(edge.score or 0), edge.id)) for tool, edges in found.items()
    }


def without_ids(chunk: Chunk) -> Chunk:
    """The passage as a page without ids would give it."""
    return replace(chunk, fragment=None, fragments=())


def cut(inventory: bytes) -> tuple[bytes, bytes]:
    """The four lines of the header, and what is packed behind them."""
    *header, packed = inventory.split(b"\n", 4)
    return b"\n".join([*header, b""]), packed


def unpack(packed: bytes) -> list[str]:
    """Lines of an inventory."""
    return zlib.decompress(packed).decode().splitlines()
