"""An index in a folder whose name has letters that addresses code, as with somebody named Jürgen."""

from pathlib import Path

import pytest

from tests.fakes.damaged_index import write_house
from tests.fakes.sitegraph_runs import sitegraph_here

NAMES = ("Jürgens Ordner", "日本語", "100%", "C# [alt]", "~draft{1}", "a|b^c`d", "5 < 6 > 4", 'a "b" *')


@pytest.mark.parametrize("name", NAMES)
def test_an_index_stays_within_its_folder(name: str, tmp_path: Path) -> None:
    program, house = sitegraph_here(), write_house(tmp_path / name / "house")
    index = str(house.parent / "index")
    assert program.run(house, Path(index))["generation"] == 1
    page = next((house.parent).rglob("*.md"))
    page.write_text(page.read_text() + "\n\nThe porter keeps a spare key.\n")
    assert program.run(house, Path(index))["generation"] == 2

    asked = program.call("query", "who keeps a spare key", "--index", index, "--as-of", "2")
    verified = program.call("verify", "--index", index, "--deep", "--quiet")
    maintained = program.call("maintain", "--index", index, "--quiet")

    assert "The porter keeps a spare key." in asked.stdout, asked
    assert (verified.returncode, maintained.returncode) == (0, 0), (verified, maintained)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_question_mark_in_the_path_is_refused(tmp_path: Path) -> None:
    house, index = write_house(tmp_path / "house"), str(tmp_path / "what?" / "index")

    run = sitegraph_here().call("run", str(house), "--index", index)
    doctor = sitegraph_here().call("doctor", "--index", index)

    assert run.returncode == 2
    assert "has a question mark in its path; choose another --index" in run.stderr
    assert "has a question mark in its path; choose another --index" in doctor.stdout
    assert not list(tmp_path.glob("what*"))
