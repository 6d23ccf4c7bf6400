"""An index goes into a WARC file and comes back out of it, without a network."""

from pathlib import Path

import pytest

from schemas.redaction import to_json
from tests.fakes.handbook import Handbook
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server


def test_an_index_built_from_its_own_archive_exports_the_same_bytes(
    sitegraph: Sitegraph, index: Path, handbook: Handbook, tmp_path: Path
) -> None:
    archive = tmp_path / "handbook.warc.gz"
    exported = sitegraph.call("export", "--index", str(index), "--what", "warc", "--output", str(archive))
    assert exported.returncode == 0, exported.stderr
    handbook.site.log.clear()
    (name,) = {row["source"] for row in sitegraph.export(index)["documents"]}
    source = tmp_path / "archived.yaml"
    source.write_text(f"name: {name}\nkind: warc\narchives: [handbook.warc.gz]\n")

    first = sitegraph.run(source, tmp_path / "rebuilt")

    assert handbook.site.log == []
    assert first["http"]["requests"] == 0
    before, after = sitegraph.export(index), sitegraph.export(tmp_path / "rebuilt")
    for what, rows in before.items():
        assert rows
        assert to_json(rows) == to_json(after[what]), what
    second = sitegraph.run(source, tmp_path / "rebuilt")
    assert second["generation"] is None
    assert second["documents"]["not_modified"] >= first["documents"]["added"]
