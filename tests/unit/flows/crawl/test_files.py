"""What a source of files says of what it does not take."""

from pathlib import Path

from flows.crawl.plan import plan_source
from schemas.source import Source
from tests.fakes.plain_pipeline import open_plain_pipeline


def test_what_is_left_out_of_a_folder_is_among_the_problems(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("a.md", ".env.md", "picture.png"):
        (notes / name).write_text(name)
    (notes / "out.md").symlink_to(tmp_path / "outside.md")
    (tmp_path / "outside.md").write_text("outside")
    source = Source(name="notes", kind="files", roots=(str(notes),))
    with open_plain_pipeline(tmp_path / "index", source) as pipeline:
        assert plan_source(pipeline) == 1
        told = {problem.url: problem.reason for problem in pipeline.index.ledger.runs.problems("run-1")}
    assert told == {
        "files://notes/.env.md": "left out: its name marks a secret",
        "files://notes/out.md": "left out: it lies outside the root",
    }
