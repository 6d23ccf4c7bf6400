"""An index whose ledger is in PostgreSQL, met by somebody who has not set its URL; and the move there."""

from pathlib import Path

import pytest

from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.server, pytest.mark.postgres]

USAGE, REFUSED = 2, 2
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
    assert "keeps its ledger in the index folder" in refused.stderr
    assert "--accept" in refused.stderr

    accepted = moved.command(*run, "--accept")
    assert accepted.returncode == 0, accepted.stderr
    assert not (index / "ledger.sqlite").exists()
    (tmp_path / "clock" / "note.md").write_text("# The clock\n\nThe clock is wound up at ten.\n")
    assert moved.command(*run).returncode == 0

    for command in (list(run), *([*one, "--index", str(index)] for one in WRITERS)):
        done = sitegraph.command(*command)
        assert done.returncode == USAGE, (command, done.stderr)
        assert "keeps its ledger in PostgreSQL at " in done.stderr, command
    status = sitegraph.command("status", "--index", str(index))
    assert "keeps its ledger in PostgreSQL at " in status.stdout + status.stderr
    assert not (index / "ledger.sqlite").exists()
    assert moved.damage(index) == ()
