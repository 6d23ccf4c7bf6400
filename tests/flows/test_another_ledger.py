"""An index whose ledger is in PostgreSQL, met by somebody who has not set its URL; and the move there."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from indexes.layout import IndexLayout, load_manifest
from indexes.stores.ledger.ledger import open_ledger
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server, pytest.mark.postgres]

REFUSED = 2
WRITERS = (["drop", "clock"], ["rollback"])


@pytest.fixture
def moved(sitegraph: Sitegraph, postgres_url: str) -> Sitegraph:
    """The program with the ledger in PostgreSQL; plain `sitegraph` goes on with that of the folder."""
    return Sitegraph(environment={**sitegraph.environment, "SITEGRAPH_LEDGER_URL": postgres_url})


def write_source(folder: Path) -> Path:
    """A source of one file."""
    (folder / "clock").mkdir()
    (folder / "clock" / "note.md").write_text("# The clock\n\nThe clock is wound up every evening at nine.\n")
    source = folder / "clock.yaml"
    source.write_text("name: clock\nkind: files\nroots: [clock]\n")
    return source


def test_only_the_ledger_that_an_index_keeps_may_change_it(
    sitegraph: Sitegraph, moved: Sitegraph, tmp_path: Path
) -> None:
    source, index = write_source(tmp_path), tmp_path / "index"
    run = ("run", str(source), "--index", str(index))
    sitegraph.run(source, index)

    refused = moved.command(*run)
    assert refused.returncode == REFUSED
    assert "keeps its ledger in the index folder, not in PostgreSQL at " in refused.stderr

    for file in (*index.glob("ledger.sqlite*"), index / "ledger.json"):  # as the message says
        file.unlink()
    done = moved.command(*run)
    assert done.returncode == 0, done.stderr
    (tmp_path / "clock" / "note.md").write_text("# The clock\n\nThe clock is wound up at ten.\n")
    assert moved.command(*run).returncode == 0

    for command in (list(run), *([*one, "--index", str(index)] for one in WRITERS)):
        done = sitegraph.command(*command)
        assert done.returncode == REFUSED, (command, done.stderr)
        assert "keeps its ledger in PostgreSQL at " in done.stderr, command
    status = sitegraph.command("status", "--index", str(index))
    assert "keeps its ledger in PostgreSQL at " in status.stdout + status.stderr
    assert not (index / "ledger.sqlite").exists()
    assert moved.damage(index) == ()


def test_who_has_not_set_the_url_makes_no_ledger_and_one_that_was_made_keeps_nobody_out(
    sitegraph: Sitegraph, moved: Sitegraph, tmp_path: Path
) -> None:
    """The index is as an earlier version left it: nothing in its folder says where the ledger is."""
    source, index = write_source(tmp_path), tmp_path / "index"
    moved.run(source, index)
    (index / "ledger.json").unlink()

    for command in (["verify"], ["repair", "--dry-run"], ["rollback"], ["maintain"], ["drop", "clock"]):
        done = sitegraph.call(*command, "--index", str(index))
        assert done.returncode == (0 if "--dry-run" in command else 1), (command, done.stderr)
        assert "set SITEGRAPH_LEDGER_URL to where it is" in done.stdout + done.stderr, command
    assert not list(index.glob("ledger.*"))

    with closing(open_ledger(f"sqlite:///{index / 'ledger.sqlite'}")) as made_by_an_earlier_version:
        made_by_an_earlier_version.owner.claim(load_manifest(IndexLayout(index)).index_id)
    (tmp_path / "clock" / "note.md").write_text("# The clock\n\nThe clock is wound up at ten.\n")
    assert moved.run(source, index)["generation"] == 2
    assert moved.damage(index) == ()
    assert "PostgreSQL at " in (index / "ledger.json").read_text()


def test_another_name_of_the_same_server_is_taken_for_it(moved: Sitegraph, tmp_path: Path) -> None:
    source, index = write_source(tmp_path), tmp_path / "index"
    moved.run(source, index)
    named = json.loads((index / "ledger.json").read_text())["ledger"]
    (index / "ledger.json").write_text(
        json.dumps({"ledger": named.replace("PostgreSQL at ", "PostgreSQL at x")})
    )

    done = moved.command("run", str(source), "--index", str(index))

    assert done.returncode == 0, done.stderr
    assert json.loads((index / "ledger.json").read_text())["ledger"] == named
