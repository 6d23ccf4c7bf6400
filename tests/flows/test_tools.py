"""A source that names files of tools, from its first run to its drop."""

from pathlib import Path

import pytest

from schemas.errors import ConfigError
from tests.fakes.pdfs import prose
from tests.fakes.sitegraph_runs import Rows, Sitegraph, assert_equals_clean_rebuild

pytestmark = pytest.mark.server

TILL = "# Till\n\n## shop open\n\nOpens the doors and the till.\n\n## Ports\n\nGive `--port` to shop open.\n"
DAY = "# Day\n\nBegin with shop open at nine. At six, shop close.\n"
OPEN = "  - {name: shop open, type: command, options: [--port], description: Opens the shop.}\n"
CLOSE = "  - {name: shop close, type: command}\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    for name, text in {"till.md": TILL, "day.md": DAY}.items():
        (root / name).write_text(text)
    for number in range(8):
        (root / f"note-{number}.md").write_text(f"# Note {number}\n\n{prose(f'note {number}')}\n")
    (tmp_path / "tools.yaml").write_text(f"tools:\n{OPEN}")
    path = tmp_path / "shop.yaml"
    path.write_text("name: shop\nkind: files\nroots: [docs]\ntools: [tools.yaml]\n")
    return path


def explained(exported: dict[str, Rows]) -> list[tuple[str, str, str]]:
    """Tool, document and role of each edge."""
    names = {row["id"]: row["name"] for row in exported["nodes"] if row["kind"] == "Tool"}
    paths = {row["id"]: row["path"] for row in exported["documents"]}
    return sorted(
        (names[row["src"]], paths[row["doc"]], row["role"])
        for row in exported["edges"]
        if row["kind"] == "explained_by"
    )


FIRST = [
    ("shop open", "day.md", "mentions"),
    ("shop open", "till.md", "defines"),
    ("shop open", "till.md", "mentions"),
]


def test_tools_live_with_the_generations_of_their_source(
    sitegraph: Sitegraph, source: Path, tmp_path: Path
) -> None:
    index, tools = tmp_path / "index", tmp_path / "tools.yaml"
    first = sitegraph.run(source, index)
    exported = sitegraph.export(index)
    assert explained(exported) == FIRST
    assert {name for row in exported["chunks"] for name in row["tool_names"]} == {"shop open"}
    assert first["documents"]["scheduled"] == len(exported["documents"]) == 10
    assert sitegraph.damage(index) == ()
    assert sitegraph.run(source, index)["generation"] is None

    tools.write_text(f"tools:\n{CLOSE}{OPEN}")
    second = sitegraph.run(source, index)
    assert (second["generation"], second["chunks"]["embedded"]) == (first["generation"] + 1, 0)
    changed = assert_equals_clean_rebuild(sitegraph, source, index)
    assert explained(changed) == [("shop close", "day.md", "mentions"), *FIRST]
    assert {name for row in changed["chunks"] for name in row["tool_names"]} == {"shop open", "shop close"}

    tools.write_text("tools: [{nme: shop open}]\n")
    with pytest.raises(ConfigError, match=r"shop\.yaml: tools\.0: tools\.yaml: tools\.0\.nme: unknown key"):
        sitegraph.run(source, index)
    assert sitegraph.export(index) == changed

    source.write_text(source.read_text().replace("tools: [tools.yaml]\n", ""))
    third = sitegraph.run(source, index)
    plain = sitegraph.export(index)
    assert third["chunks"]["embedded"] == 0
    assert not [row for row in plain["nodes"] if row["kind"] == "Tool"]
    assert explained(plain) == []
    assert plain["documents"] == exported["documents"]
    assert sitegraph.damage(index) == ()
