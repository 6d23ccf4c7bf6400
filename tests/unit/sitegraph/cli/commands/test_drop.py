"""`sitegraph drop`: what it says of what went."""

from contextlib import closing
from pathlib import Path

import pytest

from indexes.layout import IndexLayout
from indexes.stores.ledger.ledger import open_ledger
from schemas.documents import KnownDocument
from sitegraph.cli.app import run_app
from tests.fakes.copies import copy_index


def test_a_source_that_readers_never_saw_is_forgotten_without_a_generation(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = copy_index(folder, tmp_path / "index")
    ledger_url = f"sqlite:///{IndexLayout(index).ledger}"
    with closing(open_ledger(ledger_url)) as ledger:
        ledger.documents.save([KnownDocument(source="refused", uri="https://docs.example.org/")])

    assert run_app(["drop", "refused", "--index", str(index)]) == 0

    said = capsys.readouterr().out
    assert said == "refused: was never published; its ledger records were deleted\n"
    with closing(open_ledger(ledger_url)) as ledger:
        assert ledger.documents.count("refused") == 0
