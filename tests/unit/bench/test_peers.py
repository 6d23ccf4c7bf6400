"""The race with peers: its documents and edits, what is right, and what is made of figures."""

import re
from collections import Counter
from pathlib import Path

import pytest

from bench.peers.contestant import Order
from bench.peers.documents import Documents, make_documents, write_documents
from bench.peers.edits import change_numbers, delete_documents, insert_paragraphs, rename_headings
from bench.peers.encoding import DIM, Encoder, read_counts
from bench.peers.export_chunks import export
from bench.peers.phases import make_phases
from bench.peers.results import Result, misses, render
from bench.peers.truth import judge, read_truth

SENTENCES = tuple(
    f"Sentence number {number} says what the {word} of the server does at start."
    for number, word in enumerate(("archive", "backup", "catalog", "daemon", "engine", "filter") * 5)
)
DOCUMENTS = make_documents(SENTENCES, 12)


def changed(documents: Documents) -> dict[str, tuple[str, str]]:
    return {name: (DOCUMENTS[name], text) for name, text in documents.items() if DOCUMENTS[name] != text}


def words(pair: tuple[str, str]) -> tuple[Counter[str], Counter[str]]:
    before, after = (Counter(text.split()) for text in pair)
    return before - after, after - before


def test_documents_are_the_same_every_time_and_others_for_another_seed() -> None:
    assert make_documents(SENTENCES, 12) == DOCUMENTS
    assert make_documents(SENTENCES, 12, seed=1) != DOCUMENTS
    assert all(text.count("\n## ") == 10 for text in DOCUMENTS.values())


def test_an_inserted_paragraph_takes_nothing_away() -> None:
    edited = changed(insert_paragraphs(DOCUMENTS, SENTENCES, 5, seed=1))
    assert len(edited) == 5
    for before, after in edited.values():
        blocks, more = before.split("\n\n"), after.split("\n\n")
        (at,) = {place for place in range(len(more)) if [*more[:place], *more[place + 1 :]] == blocks}
        assert not more[at].startswith("#")


def test_one_number_changes_in_each_document() -> None:
    edited = changed(change_numbers(DOCUMENTS, 5, seed=2))
    assert len(edited) == 5
    for pair in edited.values():
        gone, come = words(pair)
        assert [len(gone), len(come)] == [1, 1]
        assert re.fullmatch(r"\d+", next(iter(gone)))


def test_one_heading_changes_in_each_document_and_no_other_line() -> None:
    edited = changed(rename_headings(DOCUMENTS, SENTENCES, 5, seed=3))
    assert len(edited) == 5
    for before, after in edited.values():
        lines = [
            pair for pair in zip(before.splitlines(), after.splitlines(), strict=True) if pair[0] != pair[1]
        ]
        assert len(lines) == 1
        assert all(line.startswith("## ") for line in lines[0])


def test_deleted_documents_are_left_out_and_the_rest_stays() -> None:
    left = delete_documents(DOCUMENTS, 3, seed=4)
    assert len(left) == 9
    assert left.items() <= DOCUMENTS.items()


def test_phases_leave_the_documents_of_fewer_than_ten_editable() -> None:
    documents = make_documents(SENTENCES, 2)
    for phase in make_phases(SENTENCES, 2):
        documents = phase.edit(documents)
    assert len(documents) == 1


def test_writing_touches_no_file_that_is_as_it_should_be(tmp_path: Path) -> None:
    write_documents(tmp_path, {"a": "1", "b": "1", "c": "1"})
    kept = (tmp_path / "a").stat().st_mtime_ns
    write_documents(tmp_path, {"a": "1", "b": "2"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "1", "b": "2"}
    assert (tmp_path / "a").stat().st_mtime_ns == kept


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([("a", "x"), ("a", "y"), ("a", "y"), ("b", "x")], ""),
        ([("a", "x"), ("a", "y"), ("b", "x")], ""),
        ([("a", "x"), ("a", "y")], "1 missing"),
        ([("a", "x"), ("a", "y"), ("b", "x"), ("b", "z")], "1 out of date"),
        ([("a", "x"), ("a", "x"), ("a", "y"), ("b", "x")], "1 too many"),
        ([], "3 missing"),
    ],
)
def test_a_table_is_right_if_it_contains_each_chunk_once_or_as_often_as_it_occurs(
    found: list[tuple[str, str]], said: str
) -> None:
    assert judge(found, Counter({("a", "x"): 1, ("a", "y"): 2, ("b", "x"): 1})) == said


def test_exported_chunks_say_all_that_the_documents_do(tmp_path: Path) -> None:
    write_documents(tmp_path / "documents", DOCUMENTS)
    export(tmp_path / "documents", tmp_path / "chunks")
    truth = read_truth(tmp_path / "chunks")
    for name, text in DOCUMENTS.items():
        chunks = " ".join(chunk for document, chunk in truth if document == name)
        assert [said for said in SENTENCES if said in text and said not in chunks] == []
        assert [said for said in re.findall(r"The limit is \d+ rows\.", text) if said not in chunks] == []


def test_the_encoder_counts_over_processes_and_knows_a_text_again(tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    assert read_counts(counts) == 0
    order = Order(source=tmp_path, state=tmp_path, counts=counts)
    first = Encoder(order).encode(["one", "two"])
    again = Encoder(order).encode(["two"])
    assert (first.shape, read_counts(counts)) == ((2, DIM), 3)
    assert (first[1] == again[0]).all()


def result(contestant: str, phase: str, **figures: object) -> Result:
    plain = {"wrong": "", "cpu": 2.0, "embeds": 10, "rows": 100, "versions": 1, "size": 2_000_000}
    return Result(contestant=contestant, phase=phase, **{**plain, **figures})  # type: ignore[arg-type]


def test_what_is_wrong_gets_no_time() -> None:
    told = render(
        [
            result("A", "cold", wrong="3 missing"),
            result("ours", "cold", cpu=9.0, causes={"prefect": 4.0, "link": 1.5, "write": 1.0}),
        ]
    )
    assert "| cold | wrong: 3 missing | 9.00, 10 | 5.00 | 3.50 |" in told
    assert "| cold | 100, 1, 2.0 | 100, 1, 2.0 |" in told


def test_aims_are_missed_by_errors_by_many_texts_and_by_an_idle_pass_dearer_than_the_others() -> None:
    assert misses([result("ours", "a paragraph into 10 documents")], ours="ours", beside="A") == []
    assert misses(
        [
            result("A", "no change", cpu=1.0),
            result("A", "cold", wrong="3 missing"),
            result("ours", "cold", wrong="1 missing"),
            result("ours", "no change", cpu=1.5),
            result("ours", "a paragraph into 10 documents", embeds=12),
        ],
        ours="ours",
        beside="A",
    ) == [
        "cold: 1 missing",
        "a paragraph into 10 documents: 12 texts encoded; the aim is 11",
        "no change: 1.50 CPU s; A takes 1.00",
    ]
