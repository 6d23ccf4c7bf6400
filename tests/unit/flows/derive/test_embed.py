"""What a change costs in texts to encode, and what is encoded before a crawl has ended."""

from pathlib import Path
from random import Random

import pytest

from flows.crawl.fetch import fetch_batch
from flows.crawl.parse import parse_batch
from flows.crawl.plan import plan_next_wave, plan_source
from flows.derive.embed import embed_fragments
from schemas.source import Source
from tests.fakes.plain_run import PlainRun, crawl, open_plain_run, publish_ledger

SECTIONS = ("Leases", "Ledgers", "Outboxes")
VOCABULARY = "porter key door parcel night list house window letter stair lamp coin bell gate cellar roof"
NEW = "The night porter now signs for every parcel, and the day porter reads the list aloud at noon."


def paragraph(document: int, section: str, number: int) -> str:
    """Twenty words in an order that no other paragraph has."""
    order = Random(f"{document} {section} {number}").choices(VOCABULARY.split(), k=20)
    return f"In house {document} the {' '.join(order)}."


def text(document: int) -> str:
    """A document of three sections, each of them four paragraphs and one passage."""
    parts = [f"# House {document}"]
    for section in SECTIONS:
        parts += [f"## {section}", *(paragraph(document, section, number) for number in range(4))]
    return "\n\n".join(parts) + "\n"


def write(folder: Path, documents: int) -> Source:
    """Write so many documents and give their source."""
    (folder / "houses").mkdir()
    for number in range(documents):
        (folder / "houses" / f"{number:04}.md").write_text(text(number))
    return Source(name="houses", kind="files", roots=(str(folder / "houses"),))


def insert_at_top(folder: Path, document: int) -> None:
    """Put a new paragraph before all others."""
    file = folder / "houses" / f"{document:04}.md"
    file.write_text(file.read_text().replace("## Leases\n", f"## Leases\n\n{NEW} Number {document}.\n"))


def encode_changes(plain: PlainRun, run_id: str) -> int:
    """Crawl, have encoded what changed, publish; give how many texts were new to the cache."""
    before = plain.encoding.taken
    difference = crawl(plain, run_id)
    embed_fragments(plain.indexing, [change.new.fragment_sha for change in difference.changes if change.new])
    plain.encoding.wait()
    publish_ledger(plain, difference)
    return plain.encoding.taken - before


@pytest.mark.parametrize(
    ("documents", "edited"),
    [(12, 2), pytest.param(1_000, 10, marks=pytest.mark.long)],
    ids=["a few", "ten of a thousand"],
)
def test_a_paragraph_inserted_at_the_top_encodes_one_text_a_document(
    tmp_path: Path, documents: int, edited: int
) -> None:
    source = write(tmp_path, documents)
    with open_plain_run(tmp_path / "index", source) as plain:
        first = encode_changes(plain, "run-1")
        assert first >= 3 * documents
        for number in range(0, documents, documents // edited)[:edited]:
            insert_at_top(tmp_path, number)

        assert encode_changes(plain, "run-2") <= edited + 1
        assert encode_changes(plain, "run-3") == 0


def look(plain: PlainRun) -> None:
    """Fetch and parse everything, and go no further."""
    plan_source(plain.crawling)
    while wave := plan_next_wave(plain.crawling, due_by=None):
        for batch in wave:
            fetch_batch(plain.crawling, batch.uris)
            parse_batch(plain.crawling, batch.uris)


def test_new_documents_are_encoded_while_others_are_still_to_be_read(tmp_path: Path) -> None:
    with open_plain_run(tmp_path / "index", write(tmp_path, 3)) as plain:
        look(plain)

        assert plain.encoding.taken >= 9
        assert len(plain.crawling.embedded_ahead) == 3


def test_a_document_that_was_there_before_waits_until_it_is_known_to_be_published(tmp_path: Path) -> None:
    """It may turn out to be a login page, whose texts nobody will ever read."""
    source = write(tmp_path, 3)
    with open_plain_run(tmp_path / "index", source) as plain:
        encode_changes(plain, "run-1")
        before = plain.encoding.taken
        insert_at_top(tmp_path, 1)
        plain.run_id = "run-2"

        look(plain)

        assert plain.encoding.taken == before
