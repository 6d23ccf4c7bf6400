"""What a question asks of relations: kinds, directions, hops, or nothing."""

import re

import pytest

from retrieval.relations.asked import RelationAsked, read_relations_asked
from schemas.edges import FRONT_MATTER_KINDS, EdgeKind

_ID = re.compile(r"\b[A-Z]{3}-\d{4}")


def asked(text: str, *predicates: str) -> RelationAsked | None:
    return read_relations_asked(text, [[match.span()] for match in _ID.finditer(text)], predicates=predicates)


def steps(text: str, *predicates: str) -> list[str]:
    """Each step as `kind way`, in the order in which they are gone."""
    found = asked(text, *predicates)
    assert found is not None
    return [f"{'|'.join(sorted(step.predicates or step.kinds))} {step.way}" for step in found.steps]


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("What does GOV-0001 depend on?", ["depends_on out"]),
        ("On what does GOV-0001 depend?", ["depends_on out"]),
        ("What depends on GOV-0001?", ["depends_on into"]),
        ("Is anything dependent on GOV-0001?", ["depends_on into"]),
        ("What are the dependencies of GOV-0001?", ["depends_on out"]),
        ("List GOV-0001's dependents", ["depends_on into"]),
        ("What does GOV-0001 supersede?", ["supersedes out"]),
        ("GOV-0001 is the successor of which document?", ["supersedes out"]),
        ("GOV-0001 is a replacement for what?", ["supersedes out"]),
        ("What is GOV-0001 the predecessor of?", ["supersedes into"]),
        ("What is GOV-0001 a dependency of?", ["depends_on into"]),
        ("Which policies is GOV-0001 a prerequisite for?", ["depends_on into"]),
        ("Which documents have GOV-0001 as a dependency?", ["depends_on into"]),
        ("Which policies affect GOV-0001?", ["depends_on out"]),
        ("Which policies does GOV-0001 affect?", ["depends_on into"]),
        ("Which policies are affected by GOV-0001?", ["depends_on into"]),
        ("What superseded GOV-0001?", ["supersedes into"]),
        ("What is GOV-0001 superseded by?", ["supersedes into"]),
        ("By what was GOV-0001 replaced?", ["supersedes into"]),
        ("Has GOV-0001 been replaced?", ["supersedes into"]),
        ("Which documents are superseded by GOV-0001?", ["supersedes out"]),
        ("Which pages link to GOV-0001?", ["links_to into"]),
        ("Which pages are linked from GOV-0001?", ["links_to out"]),
        ("Where is GOV-0001 linked from?", ["links_to into"]),
        ("What depends on or supersedes GOV-0001?", ["depends_on|supersedes into"]),
        ("What does the document that GOV-0001 depends on supersede?", ["depends_on out", "supersedes out"]),
        ("What depends on what GOV-0001 supersedes?", ["supersedes out", "depends_on into"]),
        ("What does the successor of GOV-0001 depend on?", ["supersedes into", "depends_on out"]),
        ("What does the document that supersedes GOV-0001 depend on?", ["supersedes into", "depends_on out"]),
    ],
)
def test_kinds_directions_and_order_are_read_from_the_words(text: str, gone: list[str]) -> None:
    assert steps(text) == gone


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("What does GOV-0001 implement?", ["implements out"]),
        ("What is GOV-0001 implemented by?", ["implements into"]),
        ("What implements GOV-0001?", ["implements into"]),
        ("Who owns GOV-0001?", ["owned_by out"]),
        ("What is owned by GOV-0001?", ["owned_by into"]),
    ],
)
def test_relations_under_keys_of_their_own_are_read_too(text: str, gone: list[str]) -> None:
    assert steps(text, "implements", "owned_by") == gone


@pytest.mark.parametrize(
    "text",
    [
        "How are GOV-0001 and ADR-0002 related?",
        "What connects GOV-0001 with ADR-0002?",
        "Does GOV-0001 depend on ADR-0002?",
        "Is there a path from GOV-0001 to ADR-0002?",
    ],
)
def test_two_names_and_a_word_that_joins_ask_how_they_are_joined(text: str) -> None:
    found = asked(text)
    assert found is not None
    assert found.joins
    assert found.leads


@pytest.mark.parametrize(
    "text",
    [
        "What does GOV-0001 say?",
        "What is the difference between GOV-0001 and ADR-0002?",
        "What do GOV-0001 and ADR-0002 say on receipts?",
        "Why does GOV-0001 depend on ADR-0002?".replace(" on ADR-0002", " on the mill"),
        "How often are seals of GOV-0001 replaced?",
        "How do I supersede GOV-0001?",
    ],
)
def test_other_questions_ask_for_no_relation(text: str) -> None:
    assert asked(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "What does GOV-0001 require?",
        "What does the document say on which GOV-0001 depends?",
        "Which mill does GOV-0001 depend on for receipts?",
    ],
)
def test_a_question_that_says_more_is_left_to_the_text(text: str) -> None:
    found = asked(text)
    assert found is not None
    assert not found.leads


def test_related_means_any_kind_and_what_is_shared_or_goes_on_is_told() -> None:
    related = asked("What is related to GOV-0001?")
    assert related is not None
    assert related.steps[0].kinds == FRONT_MATTER_KINDS
    shared = asked("What do GOV-0001 and ADR-0002 both depend on?")
    assert shared is not None
    assert shared.shared
    far = asked("What depends indirectly on GOV-0001?")
    assert far is not None
    assert far.all_the_way
    assert far.steps[0].kinds == {EdgeKind.DEPENDS_ON}
    assert asked("Which ADRs depend on GOV-0001?").wanted == ("adr",)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text",
    [
        "Which documents does GOV-0001 not depend on?",
        "Which documents never depend on GOV-0001?",
        "Why don't GOV-0001 and GOV-0002 depend on each other?",
    ],
)
def test_edges_do_not_lead_where_it_is_asked_what_is_not_so(text: str) -> None:
    found = asked(text)

    assert found is None or not found.leads
