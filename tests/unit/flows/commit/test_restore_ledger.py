"""What a lost ledger learns of an index anew."""

from pathlib import Path

import sqlalchemy as sa

from flows.commit.restore import restore_from_graph
from tests.fakes.written_index import note, open_written_index


def test_a_lost_ledger_learns_of_many_documents_in_as_many_transactions_as_of_one(tmp_path: Path) -> None:
    counts = []
    for number in (1, 6):
        with open_written_index(tmp_path / str(number)) as index:
            index.publish(
                {f"{one}.md": note(f"Berth {one}", f"Berth {one} is dry.") for one in range(number)}
            )
            opened, commits = index.plain.index, list[object]()
            known = opened.ledger.generations.live(opened.current())
            sa.event.listen(opened.ledger.engine, "commit", commits.append)
            restore_from_graph(opened)
            counts.append(len(commits))
            restored = opened.ledger.generations.live(opened.current())
        assert {doc: one.fragment_sha for doc, one in restored.items()} == {
            doc: one.fragment_sha for doc, one in known.items()
        }
    assert counts[0] == counts[1] > 0
