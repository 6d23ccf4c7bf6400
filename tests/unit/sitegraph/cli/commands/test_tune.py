"""`sitegraph tune`: a table on stdout; nothing is stored without --apply, nor what is not confirmed."""

import json
from pathlib import Path

import pytest
import yaml

from indexes.reader_parts import tuning_file
from sitegraph.cli.app import run_app

ASKED = ("backup log", "restore")
IDS = ("q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q9", "q11")
"""The fewest that may be tuned on: five in each half."""
COUNT = len(IDS)


def write_questions(path: Path, *, gold: str = "backup.md") -> Path:
    records = [{"id": one, "question": ASKED[at % len(ASKED)], "gold": [gold]} for at, one in enumerate(IDS)]
    lines = "\n".join(map(json.dumps, records))
    path.write_text(yaml.safe_dump(records) if path.suffix == ".yaml" else lines)
    return path


def test_a_table_shows_weights_halves_and_the_gain(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = write_questions(tmp_path / "questions.jsonl")
    assert run_app(["tune", str(questions), "--index", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert "weights in use" in out
    assert "gain, held out: " in out
    assert not tuning_file(folder).exists()
    assert "warning" not in err


def test_json_tells_what_it_rests_on_and_what_is_not_confirmed_is_not_stored(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = write_questions(tmp_path / "questions.yaml", gold="nowhere.md")
    assert run_app(["tune", str(questions), "--index", str(folder), "--format", "json", "--apply"]) == 4
    out, err = capsys.readouterr()
    record = json.loads(out)
    assert (record["generation"], record["questions"]["count"], record["accepted"]) == (1, COUNT, False)
    assert len(record["questions"]["sha256"]) == 64
    assert len(record["questions"]["unreached"]) == COUNT
    assert f"for {COUNT} questions no expected document was retrieved" in err
    assert "nothing was stored" in err
    assert not tuning_file(folder).exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.jsonl", '{"id": 1,\n', "line 1 is not JSON"),
        ("q.yaml", "a: [", "is not YAML"),
        ("q.yaml", "a: 1", "must be a list"),
        ("q.jsonl", '{"id": 1, "question": "?", "gold": "a"}', "too few"),
    ],
)
def test_a_file_of_another_form_is_a_usage_error(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    assert run_app(["tune", str(tmp_path / name), "--index", str(folder)]) == 2
    assert message in capsys.readouterr().err


def test_a_file_that_is_not_there_is_a_usage_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["tune", "missing.jsonl", "--index", str(folder)]) == 2
    assert "missing.jsonl: cannot be read" in capsys.readouterr().err
