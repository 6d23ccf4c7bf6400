"""An index that cannot be made where it is asked for is told in one line, before anything starts."""

from pathlib import Path

import pytest

from runtime.settings import check_makeable
from schemas.errors import ConfigError
from sitegraph.cli.app import EXIT_USAGE, run_app
from tests.fakes.read_only import only_readable


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nSome words.\n")
    path = tmp_path / "source.yaml"
    path.write_text("name: docs\nkind: files\nroots: [docs]\n")
    return path


@pytest.mark.parametrize("below", ["index", "more/index"])
def test_a_parent_that_may_not_be_written_to_is_named(
    below: str, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parent = tmp_path / "kept"
    parent.mkdir()
    # Whoever may only read may be unable to import, too; the same command brings all that it needs.
    run_app(["run", str(source), "--index", str(source / "index")])
    capsys.readouterr()

    with only_readable(parent):
        code = run_app(["run", str(source), "--index", str(parent / below)])
        with pytest.raises(ConfigError, match="is not writable"):
            check_makeable(parent / below)

    told = capsys.readouterr().err
    assert code == EXIT_USAGE
    assert told == f"sitegraph: {parent / below}: cannot be created: {parent} is not writable\n"


def test_a_parent_that_is_a_file_is_named(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run_app(["run", str(source), "--index", str(source / "index")])

    assert code == EXIT_USAGE
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "index").exists()
