"""`sitegraph status`: what a person reads."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from flows.cli.app import run_app
from indexes.layout import IndexLayout
from indexes.stores.ledger.ledger import open_ledger
from schemas.documents import KnownDocument

NOW = "2030-01-01T00:00:00+00:00"


@pytest.mark.parametrize(("problems", "said"), [(0, "0 problems"), (1, "1 problem"), (2, "2 problems")])
def test_the_last_run_is_told_with_its_number_of_problems(
    problems: int, said: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = Path(shutil.copytree(folder, tmp_path / "index", ignore=shutil.ignore_patterns("encoder")))
    with closing(open_ledger(f"sqlite:///{IndexLayout(index).ledger}")) as ledger:
        ledger.documents.save([KnownDocument(source="manual", uri="https://docs.example.org/")])
        ledger.runs.start("run-2", source="manual", now=NOW)
        ledger.runs.finish("run-2", state="finished", now=NOW, report={"problems": [{}] * problems})

    assert run_app(["status", "--index", str(index)]) == 0

    assert f"last run finished at {NOW}, {said}\n" in capsys.readouterr().out
