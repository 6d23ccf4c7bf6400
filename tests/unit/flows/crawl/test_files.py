"""What a source of files says of what it does not take."""

from pathlib import Path

from flows.crawl.plan import plan_source
from schemas.source import Source
from tests.fakes.plain_run import open_plain_run


def test_what_is_left_out_of_a_folder_is_among_the_problems(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("a.md", ".env.md", "picture.png"):
        (notes / name).write_text(name)
    (notes / "out.md").symlink_to(tmp_path / "outside.md")
    (tmp_path / "outside.md").write_text("outside")
    source = Source(name="notes", kind="files", roots=(str(notes),))
    with open_plain_run(tmp_path / "index", source) as plain:
        assert plan_source(plain.crawling) == 1
        told = {problem.url: problem.reason for problem in plain.index.ledger.runs.problems("run-1")}
    assert told == {
        "files://notes/.env.md": "left out: its name marks a secret",
        "files://notes/out.md": "left out: it lies outside the root",
    }
