"""Commands that only tell, on an index that may be read and not written."""

import shutil
from pathlib import Path

import pytest

from sitegraph.cli.app import run_app
from tests.fakes.governance import governance_documents
from tests.fakes.read_only import only_readable


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """The index, whose ledger a run has made."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "source.yaml").write_text(f"name: manual\nkind: files\nroots: [{tmp_path / 'notes'}]\n")
    index = Path(shutil.copytree(folder, tmp_path / "copy" / "index"))
    assert run_app(["status", "--index", str(index)]) == 0
    return index


@pytest.mark.parametrize(
    "arguments",
    [
        ["status"],
        ["plan", "source.yaml"],
        ["export", "--what", "chunks"],
        ["verify"],
        ["changes", "--since", "1"],
        ["why", "backup.md"],
        ["show", governance_documents()[0][0][1][0].id],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_command_that_only_tells_tells_the_same(
    arguments: list[str], copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    code = run_app([*arguments, "--index", str(copy)])
    told = capsys.readouterr()

    with only_readable(copy):
        assert run_app([*arguments, "--index", str(copy)]) == code

    assert capsys.readouterr() == told
    assert code != 3


def test_a_command_that_changes_something_says_what_it_needs(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with only_readable(copy):
        assert run_app(["drop", "manual", "--index", str(copy)]) == 3

    assert "commands that change the index must be able to write to its folder" in capsys.readouterr().err
