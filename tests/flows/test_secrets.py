"""A secret in documents of every kind, looked for in everything that a run leaves behind."""

import json
from pathlib import Path

import pytest

from indexes.stores.raw import FileRawStore
from tests.fakes.pdfs import Text, heading, pdf_bytes, prose
from tests.fakes.secret_samples import draw, github_token
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server

TOKEN, PASSWORD = github_token(), draw(28, seed=11)
SAID = f"The gate opens by {TOKEN}, and the cellar by its own: password = {PASSWORD}"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    front = f"---\nid: GOV-0017\ntitle: Gate {TOKEN}\nrelates_to: [{PASSWORD}]\n---\n"
    (root / "gate.md").write_text(f"{front}# Gate {TOKEN}\n\n{SAID}.\n\n[To the {TOKEN}](other.md)\n")
    (root / "other.md").write_text(f"# Other\n\n{prose('lamp')}\n")
    (root / "gate.html").write_text(f"<title>{TOKEN}</title><main><h1>Gates</h1><p>{SAID}</p></main>")
    pages = [[heading(f"Gate {TOKEN}"), Text(f"{prose('gate')} {SAID}")]]
    (root / "gate.pdf").write_bytes(pdf_bytes(pages, toc=[(1, f"Gate {TOKEN}", 1)], title=f"Gate {TOKEN}"))
    path = tmp_path / "notes.yaml"
    path.write_text("name: notes\nkind: files\nroots: [notes]\n")
    return path


def test_a_secret_is_nowhere_in_the_index_and_counted_in_the_report(
    sitegraph: Sitegraph, source: Path
) -> None:
    index = source.parent / "index"
    report = sitegraph.run(source, index)

    assert report["secrets"] == {"values": 6, "documents": 3}
    told = [p for p in report["problems"] if p["reason"].startswith("secrets redacted")]
    assert {p["reason"] for p in told} == {"secrets redacted: 1 github_token, 1 high_entropy"}
    assert len(told) == 3
    exported = sitegraph.export(index)
    kept = [json.dumps([report, exported]).encode()]
    kept += [file.read_bytes() for file in index.rglob("*") if file.is_file()]
    for name in ("raw", "fragments", "outbox"):
        store = FileRawStore(index / name)
        kept += [store.get(sha256) for sha256 in store.hashes()]
    for value in (TOKEN, PASSWORD):
        assert not any(value.encode() in data for data in kept)
    assert sum("[redacted]" in row["text"] for row in exported["chunks"]) >= 3
    assert len(list(FileRawStore(index / "raw").hashes())) == 1
    assert sitegraph.damage(index) == ()
