"""Seconds by stage tell the truth: together they are the run, and waiting for the encoder is embedding."""

import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server

ENCODER_SECONDS = 4.0
UNTOLD_SECONDS = 5.0
"""What may pass after the report is made, which cannot hold it: its artifacts, closing, a busy machine."""


def test_a_slow_encoder_is_seen_in_embed_and_the_stages_are_the_run(
    sitegraph: Sitegraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import flows.start
    from indexes.embed.reader_encoder import OnnxEncoder

    encode, run_source, took = OnnxEncoder.encode_documents, flows.start.run_source, list[float]()

    def slowly(self: OnnxEncoder, texts: Collection[str]) -> Any:
        if took == []:
            took.append(0.0)
            time.sleep(ENCODER_SECONDS)
        return encode(self, texts)

    def timed(*arguments: Any, **options: Any) -> Any:
        began = time.monotonic()
        report = run_source(*arguments, **options)
        took.append(time.monotonic() - began)
        return report

    monkeypatch.setattr(OnnxEncoder, "encode_documents", slowly)
    monkeypatch.setattr(flows.start, "run_source", timed)
    (tmp_path / "notes").mkdir()
    for number in range(3):
        (tmp_path / "notes" / f"{number}.md").write_text(
            f"# Note {number}\n\nWhat happens when lease {number} expires.\n"
        )
    (tmp_path / "notes.yaml").write_text("name: notes\nkind: files\nroots: [notes]\n")

    stages = sitegraph.run(tmp_path / "notes.yaml", tmp_path / "index")["stages"]

    assert stages["embed"] > ENCODER_SECONDS / 2, stages
    assert stages["start"] > 0
    assert sum(stages.values()) == pytest.approx(took[-1], abs=UNTOLD_SECONDS), stages
    assert sum(stages.values()) <= took[-1]
