"""What rules read from a passage."""

from retrieval.iterative.facts import EntityKind, NameMention, StepFacts
from retrieval.iterative.readers import NAMES_MAX, read_by_rule
from schemas.evidence import Evidence
from tests.fakes.novels import evidence


def read(passage: Evidence, known: StepFacts | None = None) -> StepFacts:
    return read_by_rule([passage], known or StepFacts(), step=1)


def names(facts: StepFacts) -> list[str]:
    return [one.name for one in facts.mentions]


def test_titles_ids_dates_and_capitalised_names_are_read() -> None:
    passage = evidence("Retention", "In 1931 Ada Quill of Port Almond wrote GOV-0017 about max_wal_size.")
    assert names(read(passage)) == [
        "Retention", "1931", "Ada Quill of Port Almond", "GOV-0017", "max_wal_size",
    ]  # fmt: skip


def test_each_name_is_joined_to_the_title_and_stands_where_it_is_said_to() -> None:
    passage = evidence("Silver Harbour", "It is a novel by Ada Quill.")
    (statement,) = read(passage).statements
    assert (statement.subject, statement.predicate, statement.object) == (
        "Silver Harbour", "mentions", "Ada Quill",
    )  # fmt: skip
    assert passage.text[slice(*statement.span)] == "Ada Quill"
    assert statement.chunk == passage.chunk_id


def test_what_the_index_says_of_the_passage_is_not_read_again() -> None:
    passage = evidence("Silver Harbour", "It is by Ada Quill of Bo.")
    known = StepFacts(
        mentions=(
            NameMention(step=1, chunk=passage.chunk_id, span=None, name="Silver Harbour", ref="entity:1"),
            NameMention(step=1, chunk=passage.chunk_id, span=(9, 25), name="Ada Quill of Bo", ref="entity:2"),
        )
    )
    facts = read(passage, known)
    assert names(facts) == ["Silver Harbour"]
    assert facts.mentions[0].ref == "entity:1"


def test_brackets_of_a_title_are_what_kind_it_is() -> None:
    (title,) = read(evidence("Mercury (planet)", "it is hot.")).mentions
    assert (title.name, title.attributes) == ("Mercury", (("kind", "planet"),))


def test_an_own_id_is_another_name_of_a_document() -> None:
    (title,) = read(evidence("Retention", "records are kept.", doc_id="GOV-0017")).mentions
    assert title.aliases == ("GOV-0017",)


def test_a_list_of_a_hundred_names_is_read_in_part() -> None:
    text = ". ".join(f"xx Abc{chr(97 + n // 26)}{chr(97 + n % 26)} xx" for n in range(100))
    assert len(read(evidence("List", text)).mentions) == NAMES_MAX + 1


def test_a_first_sentence_tells_what_the_page_is() -> None:
    (title, *_) = read(evidence("Bo Reed", "Bo Reed was an English footballer.")).mentions
    assert title.kind is EntityKind.PERSON
