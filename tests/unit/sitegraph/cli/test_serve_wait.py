"""`serve --wait` is started before the first run, as services of one compose file are."""

import threading
from pathlib import Path

import pytest

from sitegraph.cli.app import run_app
from sitegraph.cli.commands.serve import wait_for_file


def test_it_waits_until_the_index_is_made_and_says_what_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = tmp_path / "index.json"
    waiting = threading.Thread(target=wait_for_file, args=(manifest,), kwargs={"seconds": 0.01}, daemon=True)
    waiting.start()
    waiting.join(0.2)
    still = waiting.is_alive()

    manifest.write_text("{}")
    waiting.join(120)

    assert (still, waiting.is_alive()) == (True, False)
    assert capsys.readouterr().err == f"sitegraph: waiting for {manifest}\n"


def test_without_it_a_missing_index_is_refused(tmp_path: Path) -> None:
    assert run_app(["serve", "--index", str(tmp_path / "index")]) == 2
