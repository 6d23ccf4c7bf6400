import pytest

from ingest.parse.markdown.front_matter import MAX_BYTES, split_front_matter
from schemas.edges import EdgeKind
from schemas.fragment import Reference

BLOCK = """---
id: GOV-0017
title: Naming
type: governance
domain: data
status: approved
relates_to: GOV-0003
depends_on: [GOV-0001, GOV-0002, GOV-0001]
supersedes:
  - GOV-0009
---
# Body
"""


def test_a_block_says_what_the_document_is() -> None:
    stated, body, warnings = split_front_matter(BLOCK)
    assert (stated.doc_id, stated.title, stated.doc_type) == ("GOV-0017", "Naming", "governance")
    assert (stated.domain, stated.status) == ("data", "approved")
    assert (body, warnings) == ("# Body\n", ())


def test_relations_may_be_one_or_many_and_repeat() -> None:
    stated, _, _ = split_front_matter(BLOCK)
    assert [(reference.kind, reference.target) for reference in stated.references] == [
        (EdgeKind.RELATES_TO, "GOV-0003"),
        (EdgeKind.DEPENDS_ON, "GOV-0001"),
        (EdgeKind.DEPENDS_ON, "GOV-0002"),
        (EdgeKind.SUPERSEDES, "GOV-0009"),
    ]


@pytest.mark.parametrize("text", ["# No block\n", " ---\nid: x\n---\n", "---\nid: x\n", "----\n", ""])
def test_without_a_block_all_is_body(text: str) -> None:
    stated, body, warnings = split_front_matter(text)
    assert (stated.doc_id, body, warnings) == (None, text, ())


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ("id: [unclosed", "expected ',' or ']'"),
        ("- a list", "not a mapping"),
        ("a: &x [1]\nb: *x", "anchors and aliases"),
        ("id: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
        (f"text: {'x' * MAX_BYTES}", "longer than 64 KB"),
        ("[" * 5000, "nested too deep"),
    ],
)
def test_a_bad_block_is_body_text_and_a_warning(block: str, why: str) -> None:
    text = f"---\n{block}\n---\nBody.\n"
    stated, body, warnings = split_front_matter(text)
    assert (stated.doc_id, body) == (None, text)
    assert len(warnings) == 1
    assert why in warnings[0]


def test_an_empty_block_states_nothing() -> None:
    stated, body, warnings = split_front_matter("---\n---\nBody.\n")
    assert (stated.title, body, warnings) == (None, "Body.\n", ())


def test_numbers_and_dates_are_taken_as_text() -> None:
    assert split_front_matter("---\nid: 17\nstatus: {a: 1}\n---\n")[0].doc_id == "17"


@pytest.mark.parametrize("written", ["010", "1:30:00", "0x1F", "1_000", "1e3", "1:1:1.5", f"{'1:' * 140}1"])
def test_an_id_is_what_is_written_and_no_number(written: str) -> None:
    assert split_front_matter(f"---\nid: {written}\n---\n")[0].doc_id == written


@pytest.mark.parametrize(
    "written", ["1:" * 3_000 + "1", "9" * 5_000, "0x" + "f" * 60_000, "59:" * 3_000 + "1.5"]
)
@pytest.mark.parametrize("key", ["id", "title", "status", "type", "domain"])
def test_a_number_of_any_length_is_told_and_read_as_text(key: str, written: str) -> None:
    text = f"---\n{key}: {written}\n---\nBody.\n"
    stated, body, warnings = split_front_matter(text)
    assert (stated.doc_id, stated.title, body) == (None, None, text)
    assert warnings == (f"front matter is read as text: {key} is longer than 300 characters",)


def test_a_key_that_the_source_names_is_a_relation_with_a_predicate() -> None:
    text = "---\nimplements: [GOV-1, GOV-1]\nowned_by: OPS-2\ndepends_on: GOV-3\nreviews: GOV-4\n---\n"
    stated, _, _ = split_front_matter(text, relations=("implements", "owned_by"))
    assert stated.references == (
        Reference(kind=EdgeKind.DEPENDS_ON, target="GOV-3"),
        Reference(kind=EdgeKind.RELATES_TO, target="GOV-1", predicate="implements"),
        Reference(kind=EdgeKind.RELATES_TO, target="OPS-2", predicate="owned_by"),
    )


def test_aliases_are_other_names() -> None:
    assert split_front_matter("---\naliases: [Old Gate, Old Gate, 7]\n---\n")[0].names == ("Old Gate", "7")
    assert split_front_matter("---\naliases: Old Gate\n---\n")[0].names == ("Old Gate",)


@pytest.mark.parametrize(
    ("block", "day"),
    [
        ("last_update: {date: 2024-05-03, author: Ann}", "2024-05-03"),
        ("last_update: {author: Ann, date: 2024-05-03}", "2024-05-03"),
        ("last_update: {author: 2020-01-01 Bot, date: 2024-05-03}", "2024-05-03"),
        ("last_update: 2024-05-03", "2024-05-03"),
        ("last_update: {author: 2020-01-01}", None),
        ("date: {created: 2020-01-01, updated: 2024-05-03}", "2024-05-03"),
        ("date: {created: 2020-01-01}", "2020-01-01"),
    ],
)
def test_of_a_mapping_the_date_is_read_wherever_it_stands(block: str, day: str | None) -> None:
    modified = split_front_matter(f"---\n{block}\n---\n")[0].modified
    assert (modified and modified.at[:10]) == day
