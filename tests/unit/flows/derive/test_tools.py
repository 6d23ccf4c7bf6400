"""Files of tools, kept as parsed documents are."""

from pathlib import Path

import pytest

from flows.derive.tools import keep_tools, restore_tools
from ingest.parse.tools.file import parse_tools
from tests.fakes.graph_samples import make_page
from tests.fakes.known import web_source
from tests.fakes.plain_run import open_plain_run


@pytest.fixture
def file() -> bytes:
    return b"tools: [{name: till, description: Takes money.}, {name: shop open, options: [--port]}]"


def test_what_is_kept_of_a_file_of_tools_can_be_made_from_its_nodes(tmp_path: Path, file: bytes) -> None:
    fragments = [parse_tools(file, source="shop", path=path) for path in ("a.yaml", "b.yaml")]
    with open_plain_run(tmp_path, web_source()) as plain:
        index = plain.index
        kept = keep_tools(index, fragments)
        nodes = [
            make_page("https://shop.test/"),
            *(n for fragment in fragments for n in fragment.nodes[::-1]),
        ]
        for document in kept:
            index.fragments.drop(document.fragment_sha)
        assert set(restore_tools(index, nodes)) == set(kept)
        assert all(index.fragments.has(document.fragment_sha) for document in kept)
