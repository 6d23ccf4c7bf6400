"""The same runs with raw bytes and parsed documents in a bucket: the same export, nothing on disk."""

import json
import shutil
from pathlib import Path

import fsspec
import pytest

from indexes.layout import IndexLayout
from tests.fakes.handbook import Handbook
from tests.fakes.prefect_server import PrefectServer
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph_on

pytestmark = [pytest.mark.system, pytest.mark.server]


@pytest.mark.long
def test_the_export_does_not_say_where_the_bytes_are(
    sitegraph: Sitegraph,
    prefect_server: PrefectServer,
    bucket_url: str,
    first_index: Path,
    handbook: Handbook,
    source: Path,
    tmp_path: Path,
) -> None:
    """The second run is not told of the bucket: the index knows."""
    on_s3, index = sitegraph_on(prefect_server, SITEGRAPH_RAW_URL=bucket_url), tmp_path / "index"
    on_s3.run(source, index)
    assert sitegraph.export(index) == sitegraph.export(first_index)
    handbook.edit("/guards.html", "Losing Guards", "Guards that are lost are looked for by the others.")

    report = sitegraph.run(source, index)

    assert (report["generation"], report["documents"]["changed"]) == (2, 1)
    assert report["http"]["status"]["304"] == len(handbook.articles) - 1
    assert sitegraph.damage(index) == ()
    layout = IndexLayout(index)
    assert [folder for folder in (layout.raw, layout.fragments) if folder.exists()] == []


def test_an_index_whose_bytes_were_moved_to_a_bucket_is_whole_and_stays_there(
    sitegraph: Sitegraph, bucket_url: str, handbook: Handbook, source: Path, index: Path
) -> None:
    """As docs/stores.md tells it."""
    layout = IndexLayout(index)
    manifest = json.loads(layout.manifest.read_text())
    for folder in (layout.raw, layout.fragments):
        there = f"{bucket_url}/{manifest['index_id']}/{folder.name}"
        fsspec.filesystem("s3", skip_instance_cache=True).put(str(folder), there, recursive=True)
        shutil.rmtree(folder)
    layout.manifest.write_text(json.dumps({**manifest, "raw": bucket_url}))

    report = sitegraph.run(source, index)

    assert report["generation"] is None
    assert report["documents"]["not_modified"] == len(handbook.articles)
    assert json.loads(layout.manifest.read_text())["raw"] == bucket_url
    assert sitegraph.damage(index) == ()
    answered = sitegraph.call("query", "--index", str(index), "who loses a lease")
    assert answered.returncode == 0, answered.stderr
