"""Names, mentions and entities of a growing index, through the real plan and stores in memory."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from schemas.edges import Edge, EdgeKind
from schemas.errors import FetchTimeout
from schemas.ids import entity_id
from schemas.names import Message
from schemas.nodes import Entity
from tests.fakes.written_index import WrittenIndex, content_of, note, open_written_index

LEASES = note("Lease Keeper", "Whoever holds it sleeps well.", id="GOV-0017")
GATES = note("Gates", "A gate opens when the Lease Keeper nods. See GOV-0017 for more.")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[WrittenIndex]:
    with open_written_index(tmp_path / "index") as opened:
        yield opened


def entity_named(index: WrittenIndex, name: str, disambiguation: str = "") -> Entity | None:
    wanted = entity_id(name, disambiguation)
    return next((node for node in index.nodes if isinstance(node, Entity) and node.id == wanted), None)


def mentions(index: WrittenIndex, name: str, disambiguation: str = "") -> list[Edge]:
    wanted = entity_id(name, disambiguation)
    return [edge for edge in index.edges(EdgeKind.MENTIONS) if edge.dst == wanted]


def assert_equals_rebuild(index: WrittenIndex, folder: Path, texts: dict[str, dict[str, str]]) -> None:
    """Hold that the index equals one into which the same notes were written at once, weighed alike."""
    with open_written_index(folder) as clean:
        for source, notes in sorted(texts.items()):
            clean.publish(notes, source=source)
        expected = {**content_of(clean), **beside(clean)}
    found = {**content_of(index), **beside(index)}
    for table, rows in expected.items():
        assert found[table] == rows, table


def beside(index: WrittenIndex) -> dict[str, object]:
    """What is kept of the newest generation beside its rows, and follows from all documents together."""
    opened = index.plain.index
    generation = opened.ledger.generations.get(opened.current())
    assert generation is not None
    return {
        "labels": generation.details["names"]["labels"],
        "links": generation.details["links"],
        "authority": opened.authority.at(generation.generation).of(
            [live.doc for live in index.notes.values()]
        ),
    }


def test_a_title_and_an_id_lead_from_another_text_to_their_document(index: WrittenIndex) -> None:
    index.publish({"leases.md": LEASES, "gates.md": GATES})

    entity = entity_named(index, "Lease Keeper", "GOV-0017")
    assert entity is not None
    assert entity.aliases == ("GOV-0017",)
    (mention,) = mentions(index, "Lease Keeper", "GOV-0017")
    assert (mention.text, mention.count, mention.confidence) == ("Lease Keeper", 2, 1.0)
    leases = index.notes["notes", "leases.md"].doc
    (names,) = [edge for edge in index.edges(EdgeKind.NAMES) if edge.src == entity.id]
    assert (names.dst, names.doc, names.confidence) == (leases, leases, 1.0)


def test_a_title_that_comes_later_is_found_in_texts_that_were_there(
    index: WrittenIndex, tmp_path: Path
) -> None:
    index.publish({"gates.md": GATES})
    assert mentions(index, "Lease Keeper", "GOV-0017") == []
    index.publish({"leases.md": LEASES})
    assert len(mentions(index, "Lease Keeper", "GOV-0017")) == 1
    assert entity_named(index, "Lease Keeper") is None
    assert_equals_rebuild(index, tmp_path / "clean", {"notes": {"gates.md": GATES, "leases.md": LEASES}})


def test_an_entity_goes_with_the_last_text_that_names_it(index: WrittenIndex, tmp_path: Path) -> None:
    plain = note("Gates", "A gate opens at dawn.")
    index.publish({"gates.md": GATES, "bells.md": note("Bells", "Ask the Lease Keeper.")})
    assert len(mentions(index, "Lease Keeper")) == 2
    index.publish({"gates.md": plain})
    assert len(mentions(index, "Lease Keeper")) == 1
    index.publish({"bells.md": None})
    assert entity_named(index, "Lease Keeper") is None
    assert_equals_rebuild(index, tmp_path / "clean", {"notes": {"gates.md": plain}})


def test_one_new_title_touches_only_the_texts_that_hold_it(index: WrittenIndex) -> None:
    others = {f"note {n}.md": note(f"Lantern {n}", f"The lamp of hall {n} burns.") for n in range(5)}
    index.publish({**others, "gates.md": GATES})
    index.publish({"leases.md": LEASES})
    touched = [index.notes["notes", name].doc for name in ("gates.md", "leases.md")]
    assert index.linked == tuple(sorted(touched))


def test_one_new_heading_touches_no_text_that_only_links_to_its_document(index: WrittenIndex) -> None:
    index.publish({"gates.md": GATES, "way.md": note("The Way", "Go to [the Old Gates](gates.md).")})
    index.publish({"gates.md": GATES + "\n## Night Porter Lodge\n\nHe sleeps.\n"})
    assert index.linked == (index.notes["notes", "gates.md"].doc,)
    index.publish({"gates.md": GATES.replace('"Gates"', '"Iron Gates"')})
    assert index.linked == tuple(sorted(live.doc for live in index.notes.values()))


def test_a_document_is_linked_again_where_links_to_it_change_and_not_where_the_text_around_them_does(
    index: WrittenIndex, tmp_path: Path
) -> None:
    way, gates = note("The Way", "Go to [the Old Gates](gates.md)."), note("Gates", "They open.")
    index.publish({"gates.md": gates, "way.md": way})
    docs = {path: live.doc for (_, path), live in index.notes.items()}
    index.publish({"way.md": way + "\nIt is long.\n"})
    assert index.linked == (docs["way.md"],)
    way = way.replace("the Old Gates", "iron doors")
    index.publish({"way.md": way})
    assert index.linked == tuple(sorted(docs.values()))
    index.publish({"way.md": None})
    assert index.linked == tuple(sorted(docs.values()))
    assert_equals_rebuild(index, tmp_path / "clean", {"notes": {"gates.md": gates}})


def test_what_names_an_id_is_linked_again_where_the_id_moves_and_not_where_its_document_is_edited(
    index: WrittenIndex, tmp_path: Path
) -> None:
    leases, rule = "A lease ends.", note("Rule", "Short.", implements=["GOV-0017"])
    index.publish({"leases.md": note("Leases", leases, id="GOV-0017"), "rule.md": rule})
    docs = {path: live.doc for (_, path), live in index.notes.items()}
    index.publish({"leases.md": note("Leases", leases + " So it is.", id="GOV-0017")})
    assert index.linked == (docs["leases.md"],)
    index.publish({"leases.md": note("Leases", leases, id="GOV-0018")})
    assert index.linked == tuple(sorted(docs.values()))
    assert index.edges(EdgeKind.RELATES_TO) == []
    last = note("Leases", leases, id="gov-0017")
    index.publish({"leases.md": last})
    assert index.linked == tuple(sorted(docs.values()))
    (reference,) = index.edges(EdgeKind.RELATES_TO)
    assert (reference.src, reference.dst) == (docs["rule.md"], docs["leases.md"])
    assert_equals_rebuild(index, tmp_path / "clean", {"notes": {"leases.md": last, "rule.md": rule}})


def test_titles_that_differ_in_brackets_are_kept_apart_by_the_words_around_them(index: WrittenIndex) -> None:
    index.publish(
        {
            "planet.md": note("Mercury (planet)", "It circles the sun."),
            "element.md": note("Mercury (element)", "It is liquid."),
            "sky.md": note("Evening Sky", "No planet is as swift as Mercury tonight."),
            "lab.md": note("The Laboratory", "Of the element we only keep Mercury in glass."),
            "song.md": note("A Song", "They sang of Mercury for hours."),
        }
    )
    (sky,) = mentions(index, "Mercury", "planet")
    (lab,) = mentions(index, "Mercury", "element")
    docs = {path: live.doc for (_, path), live in index.notes.items()}
    assert (sky.doc, lab.doc) == (docs["sky.md"], docs["lab.md"])
    assert mentions(index, "Mercury") == []


def test_a_code_that_several_ids_begin_with_means_all_of_them(index: WrittenIndex) -> None:
    index.publish(
        {
            "spec.md": note("Gate Spec", "One.", id="PRD-0008-gate-spec"),
            "plan.md": note("Gate Plan", "Two.", id="PRD-0008-gate-plan"),
            "more.md": note("More", "As PRD-0008 says, gates close at dusk."),
        }
    )
    assert len(mentions(index, "Gate Spec", "PRD-0008-gate-spec")) == 1
    assert len(mentions(index, "Gate Plan", "PRD-0008-gate-plan")) == 1


def test_an_acronym_that_one_document_explains_is_known_in_all(index: WrittenIndex, tmp_path: Path) -> None:
    uses = note("Recovery", "After a crash the WAL is read again.")
    explains = note("Storage", "Every change goes to the Write-Ahead Log (WAL) first.")
    index.publish({"uses.md": uses})
    index.publish({"explains.md": explains})

    entity = entity_named(index, "Write-Ahead Log")
    assert entity is not None
    assert entity.aliases == ("WAL",)
    assert {edge.text for edge in mentions(index, "Write-Ahead Log")} == {"WAL", "Write-Ahead Log"}
    assert_equals_rebuild(index, tmp_path / "clean", {"notes": {"uses.md": uses, "explains.md": explains}})


def test_an_entity_that_gains_a_name_is_written_again_although_no_text_of_it_changes(
    index: WrittenIndex, tmp_path: Path
) -> None:
    index.publish({"leases.md": LEASES, "gates.md": GATES})
    renamed = LEASES.replace("id:", 'aliases: ["Warden of Leases"]\nid:')
    index.publish({"leases.md": renamed})
    entity = entity_named(index, "Lease Keeper", "GOV-0017")
    assert entity is not None
    assert entity.aliases == ("GOV-0017", "Warden of Leases")
    assert_equals_rebuild(index, tmp_path / "clean", {"notes": {"leases.md": renamed, "gates.md": GATES}})


def test_a_dropped_source_takes_only_the_entities_that_nobody_else_names(
    index: WrittenIndex, tmp_path: Path
) -> None:
    index.publish({"gates.md": GATES})
    index.publish({"bells.md": note("Bells", "The Lease Keeper and Brass Founder met.")}, source="wiki")
    index.drop("wiki")
    assert entity_named(index, "Lease Keeper") is not None
    assert entity_named(index, "Brass Founder") is None
    assert_equals_rebuild(index, tmp_path / "clean", {"notes": {"gates.md": GATES}})


def test_a_relation_under_a_key_of_the_source_file_becomes_an_edge_when_its_target_comes(
    index: WrittenIndex,
) -> None:
    index.publish({"gates.md": note("Gates", "They open.", implements=["GOV-0017"])})
    index.publish({"leases.md": LEASES})
    (edge,) = index.edges(EdgeKind.RELATES_TO)
    assert edge.predicate == "implements"
    assert edge.dst == index.notes["notes", "leases.md"].doc


NOUNS = (
    "Lease Keeper",
    "Night Porter",
    "Brass Founder",
    "Mercury",
    "Mercury (planet)",
    "Gate House",
    "Overview",
)
SENTENCES = (
    "The {a} depends on the {b}.",
    "A planet passed; {a} was seen.",
    "The Old Tower Bell (OTB) rings for {a}.",
    "Then the OTB fell on {b}, keeper of {a}.",
    "See GOV-0001 or PRD-0008 for `gate.open_wide` and {b}.",
)


def random_note(chance: random.Random) -> str:
    """A note that speaks of some of a few things."""
    pick = chance.choice
    text = " ".join(pick(SENTENCES).format(a=pick(NOUNS), b=pick(NOUNS)) for _ in range(chance.randint(1, 4)))
    link = f" [the {pick(NOUNS)}]({chance.randint(0, 7)}.md)" if chance.random() < 0.5 else ""
    id_ = {"id": pick(("GOV-0001", "PRD-0008-a", "PRD-0008-b"))} if chance.random() < 0.4 else {}
    return note(pick(NOUNS), text + link, **id_)


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 9))])
def test_after_random_edits_the_index_equals_a_clean_rebuild(
    index: WrittenIndex, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other time the texts that hold new names are found by reading all of them."""
    chance = random.Random(seed)
    monkeypatch.setattr("flows.derive.names.MANY", 500 * (seed % 2))
    monkeypatch.setattr("flows.derive.names.SHARE", chance.choice((0, 2)))
    texts: dict[str, dict[str, str]] = {"notes": {}, "wiki": {}}
    for _ in range(8):
        source = chance.choice(("notes", "wiki"))
        changed: dict[str, str | None] = {}
        for number in chance.sample(range(8), 3):
            path = f"{number}.md"
            gone = path in texts[source] and chance.random() < 0.3
            changed[path] = None if gone else random_note(chance)
            if gone:
                del texts[source][path]
            else:
                texts[source][path] = changed[path] or ""
        index.publish(changed, source=source)
    assert_equals_rebuild(index, tmp_path / "clean", texts)
    check_edges(index)


def check_edges(index: WrittenIndex) -> None:
    """Hold that every edge has its ends and a confidence, and that what supports it stands in its chunk."""
    nodes, chunks = {node.id for node in index.nodes}, {chunk.id: chunk for chunk in index.chunks}
    assert index.edges(EdgeKind.MENTIONS)
    for edge in index.edges():
        assert {edge.src, edge.dst} <= nodes
        assert 0 < edge.confidence <= 1
        if edge.kind in (EdgeKind.MENTIONS, EdgeKind.RELATED):
            assert edge.text
            assert edge.text in chunks[edge.chunk or ""].text
    named = {edge.src for edge in index.edges()} | {edge.dst for edge in index.edges()}
    assert {node.id for node in index.nodes if isinstance(node, Entity)} <= named


def test_a_language_model_is_asked_about_new_passages_only_and_told_of_when_it_fails(
    index: WrittenIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def complete(messages: Sequence[Message], _schema: Mapping[str, object]) -> str:
        asked.append(messages[-1]["content"])
        if "silence" in asked[-1]:
            raise FetchTimeout("no answer", subject="http://model.test")
        return '{"entities": ["great key", "golden key"], "relations": []}'

    settings = replace(index.plain.index.settings, llm_url="http://model.test", llm_model="small")
    index.plain.index.settings = settings
    monkeypatch.setattr("ingest.fetch.completion.open_completion", lambda *_args, **_fields: complete)
    index.publish(
        {"key.md": note("Keys", "The great key hangs there."), "no.md": note("No", "Such silence.")}
    )
    assert {edge.text for edge in mentions(index, "great key")} == {"great key"}
    assert mentions(index, "golden key") == []
    assert len(asked) == 2
    problems = index.plain.index.ledger.runs.problems(index.plain.run_id)
    assert any("read by rules alone" in problem.reason for problem in problems)
    index.publish(
        {"gates.md": note("Great Gates", "They open."), "key.md": note("Keys", "The great key hangs there.")}
    )
    assert len(asked) == 3
