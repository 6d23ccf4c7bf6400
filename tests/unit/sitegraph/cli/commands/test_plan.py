"""`sitegraph plan`: a table for a person, one object for a program, before there is an index and after."""

import json
from functools import partial
from pathlib import Path

import pytest

from sitegraph.cli.app import run_app
from sitegraph.cli.commands.plan import MAX_LINES, plan_lines
from sitegraph.cli.options import complete_commands


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A source file beside a folder of more notes than are listed one by one."""
    (tmp_path / "notes").mkdir()
    for number in range(MAX_LINES + 2):
        (tmp_path / "notes" / f"{number:02}.md").write_text("# note\n")
    file = tmp_path / "notes.yaml"
    file.write_text("name: notes\nkind: files\nroots: [notes]\nscope: {exclude: ['00.md']}\n")
    return file


def test_a_person_reads_counts_by_action_and_reason_then_the_documents(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["plan", str(source)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "notes: 0 documents known, no generation yet",
        f"  fetch         {MAX_LINES + 1}  new",
        "    fetch    files://notes/01.md  (new)",
    ]
    assert lines[-1] == "    … and 1 more (--format json)"
    assert len(lines) == 2 + MAX_LINES + 1


def test_a_program_reads_all_of_them(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["plan", str(source), "--due", "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["counts"] == {"fetch": MAX_LINES + 1}
    assert len(record["documents"]) == MAX_LINES + 1


def test_nothing_to_do_is_said(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source.write_text(source.read_text().replace("00.md", "*"))
    assert run_app(["plan", str(source)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["  nothing to do"]


def test_what_the_guard_and_a_hold_would_say_is_told() -> None:
    lines = plan_lines(
        {
            "source": "notes",
            "generation": 3,
            "known": 9,
            "reasons": {"fetch": {"known": 8, "failed before": 1}, "remove": {"file deleted": 5}},
            "embed": {"texts": 4, "passages_up_to": 70},
            "guard": "5 of 9 would go",
            "model": {"from": "a", "to": "b", "passages": 7, "texts": 12},
            "held_since": "2026-03-01",
            "documents": [
                {"action": "fetch", "url": "files://notes/a.md", "reason": "due", "detail": "since 2026"}
            ],
        },
        partial(complete_commands, index="here", source="notes.yaml"),
    )
    assert list(lines) == [
        "notes: 9 documents known, generation 3",
        "  fetch          8  known",
        "                 1  failed before",
        "  remove         5  file deleted",
        "  embed          4  texts without a vector",
        "  embed    up to 70 passages, if parsing again changes them all",
        "  model    a gives way to b: 12 texts of all 7 passages of the index are encoded; "
        "to go ahead: sitegraph run notes.yaml --accept --index here",
        "  guard    would stop the run: 5 of 9 would go; to go ahead: "
        "sitegraph run notes.yaml --accept --index here",
        "  hold     publishing has been held since 2026-03-01; lift it with: "
        "sitegraph rollback --lift --index here",
        "    fetch    files://notes/a.md  (due since 2026)",
    ]
