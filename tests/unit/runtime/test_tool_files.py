"""Files of tools are read under the rules for files under a root."""

from pathlib import Path

import pytest

from runtime.source_file import load_source, load_tools, tools_documents, tools_record
from schemas.errors import ConfigError
from schemas.ids import sha256_hex
from schemas.nodes import Tool
from schemas.source import ToolFile, ToolFormat


def _source(folder: Path, tools: str) -> Path:
    path = folder / "shop.yaml"
    path.write_text(f"name: shop\nkind: files\nroots: [.]\ntools: {tools}\n")
    return path


def _load(folder: Path, tools: str) -> list[str]:
    path = _source(folder, tools)
    fragments = load_tools(load_source(path), path)
    return [node.name for fragment in fragments for node in fragment.nodes if isinstance(node, Tool)]


def test_paths_are_those_under_the_source_file(tmp_path: Path) -> None:
    (tmp_path / "help").mkdir()
    (tmp_path / "help" / "shop.txt").write_text("Usage: shop [OPTIONS]\n")
    (tmp_path / "tools.yaml").write_text("tools: [{name: till}]\n")
    assert _load(tmp_path, "[help/shop.txt, {path: ./tools.yaml, format: tools}]") == ["shop", "till"]


def test_an_entry_is_a_path_or_a_path_with_its_format(tmp_path: Path) -> None:
    source = load_source(_source(tmp_path, "[a.txt, {path: b.txt, format: help}]"))
    assert source.tools == (ToolFile(path="a.txt"), ToolFile(path="b.txt", tool_format=ToolFormat.HELP))


def test_a_document_is_kept_under_the_hash_of_its_record(tmp_path: Path) -> None:
    (tmp_path / "tools.yaml").write_text("tools: [{name: till}]\n")
    path = _source(tmp_path, "[tools.yaml]")
    (fragment,) = load_tools(load_source(path), path)
    (document,) = tools_documents([fragment])
    assert (document.doc, document.uri, document.source) == (fragment.doc, "tools://shop/tools.yaml", "shop")
    assert document.fragment_sha == sha256_hex(tools_record(fragment))


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ("[../tools.yaml]", r"line 4: tools\.0\.path: should be the path of a file under"),
        ("[/etc/passwd]", r"tools\.0\.path: should be the path"),
        ("['']", r"tools\.0\.path: should be the path"),
        ("[{path: a, format: yaml}]", r"tools\.0\.format: Input should be 'tools', 'openapi'"),
        ("[{path: a, frmat: help}]", r"tools\.0\.frmat: unknown key; did you mean format\?"),
        ("[{path: a, path: b}]", "path: occurs twice"),
        ("[{format: help}]", r"tools\.0\.path: is required"),
        ("[a, ./a]", "tools names a twice"),
        ("tools.yaml", "tools: should be a list"),
        ("[nothing.yaml]", r"tools\.0: nothing\.yaml: it cannot be read"),
        ("[.env.yaml]", r"tools\.0: \.env\.yaml: its name marks a secret"),
        ("[link.yaml]", r"tools\.0: link\.yaml: it lies outside the root"),
        ("[folder]", r"tools\.0: folder: not a regular file"),
        ("[bad.yaml]", r"tools\.0: bad\.yaml: tools\.0\.nme: unknown key"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line_that_names_file_and_key(
    tmp_path: Path, tools: str, said: str
) -> None:
    inside = tmp_path / "conf"
    (inside / "folder").mkdir(parents=True)
    (tmp_path / "outside.yaml").write_text("tools: [{name: till}]\n")
    (inside / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    (inside / ".env.yaml").write_text("tools: [{name: till}]\n")
    (inside / "bad.yaml").write_text("tools: [{nme: till}]\n")
    with pytest.raises(ConfigError, match=said) as caught:
        _load(inside, tools)
    assert caught.value.subject == str(inside / "shop.yaml")
    assert "\n" not in str(caught.value)
