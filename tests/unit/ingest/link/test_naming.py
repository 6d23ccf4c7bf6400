"""What a document calls itself, its sections and its terms."""

from ingest.link.naming import split_qualifier, stated_names, subject_of
from schemas.names import Name, NameRole, leading_code
from tests.fakes.written_index import note, parse_note


def texts(names: tuple[Name, ...], role: NameRole) -> list[str]:
    return [name.text for name in names if name.role is role]


def test_an_id_of_its_own_tells_a_document_from_others_of_its_title() -> None:
    assert subject_of(parse_note(note("Gate Spec", "x", id="PRD-0008-spec"))) == (
        "Gate Spec",
        "PRD-0008-spec",
    )
    assert subject_of(parse_note(note("Gate Spec", "x"))) == ("Gate Spec", "")
    assert subject_of(parse_note(note("Mercury (planet)", "x"))) == ("Mercury", "planet")
    assert subject_of(parse_note(note("Overview", "x", id="GOV-0001"))) == ("GOV-0001", "")
    assert subject_of(parse_note(note("Overview", "x"))) is None


def test_a_document_is_called_by_its_id_its_code_its_title_and_its_aliases() -> None:
    fragment = parse_note(
        note("Gate Spec (draft)", "Text.", id="PRD-0008-spec", aliases=["Spec of Gates", "it"])
    )
    names = stated_names(fragment)
    assert {name.node for name in names} == {fragment.doc}
    assert texts(names, NameRole.DOC_ID) == ["PRD-0008-spec"]
    assert texts(names, NameRole.CODE_PREFIX) == ["PRD-0008"]
    assert texts(names, NameRole.TITLE) == ["Gate Spec"]
    assert texts(names, NameRole.ALIAS) == ["Gate Spec (draft)", "Spec of Gates"]


def test_an_id_that_is_a_plain_word_is_no_name() -> None:
    assert stated_names(parse_note(note("Overview", "Text.", id="leases"))) == ()


def test_headings_of_several_words_and_ids_name_their_section_and_symbols_do_not() -> None:
    headings = (
        "3.1 Night Porter",
        "Options",
        "Bells",
        "gate.open_wide",
        "Gate.open(key, wide=True)",
        "RFC-2616",
    )
    text = "\n\n".join(f"## {heading}\n\ntext" for heading in headings)
    fragment = parse_note(note("Gates", text))
    names = [name for name in stated_names(fragment) if name.role is NameRole.HEADING]
    assert [name.text for name in names] == ["Night Porter", "RFC-2616"]
    assert {name.node for name in names} <= {node.id for node in fragment.nodes} - {fragment.doc}


def test_an_explained_acronym_is_a_name_of_what_it_stands_for() -> None:
    names = stated_names(parse_note(note("Overview", "The Old Tower Bell (OTB) rings.")))
    assert [(name.text, name.role, name.entity, name.node) for name in names] == [
        ("Old Tower Bell", NameRole.TERM, "Old Tower Bell", None),
        ("OTB", NameRole.ACRONYM, "Old Tower Bell", None),
    ]


def test_a_document_without_passages_names_nothing() -> None:
    assert stated_names(parse_note("---\ntitle: Lease Keeper\nid: GOV-0017\n---\n")) == ()


def test_brackets_at_the_end_of_a_title_are_cut_off() -> None:
    assert split_qualifier("Mercury  (planet)") == ("Mercury", "planet")
    assert split_qualifier("(untitled)") == ("(untitled)", "")
    assert split_qualifier("A (b) c") == ("A (b) c", "")


def test_the_code_of_an_id_ends_where_a_word_ends() -> None:
    assert leading_code("PRD-0008-some-title") == "PRD-0008"
    assert leading_code("PRD-0008") == "PRD-0008"
    assert leading_code("PRD-0008a") is None
    assert leading_code("backup-guide") is None
