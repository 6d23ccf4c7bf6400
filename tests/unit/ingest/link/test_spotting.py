"""Where names stand in a text."""

from collections.abc import Iterable

import pytest

from ingest.link.catalogue import Catalogue, Stated, build_catalogue
from ingest.link.spotting import Span, find_capitalised, find_catalogued, find_ids
from schemas.names import Name, NameRole


def listing(*names: str) -> Catalogue:
    return build_catalogue(
        Stated(f"page:{name}", Name(text=name, role=NameRole.TITLE, entity=name, node=f"page:{name}"))
        for name in names
    )


def said(spans: Iterable[Span]) -> list[str]:
    return [span.text for span in spans]


def test_the_longest_of_the_names_that_begin_together_is_taken() -> None:
    catalogue = listing("Gate", "Gate House", "House Rules")
    text = "The Gate House Rules hang at the Gate; Gate Houses do not."
    spans = find_catalogued(text, catalogue)
    assert said(spans) == ["Gate House", "Gate", "Gate"]
    assert [text[span.start : span.end] for span in spans] == said(spans)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Lothair II's mother", ["Lothair II"]),
        ("(Lothair II)", ["Lothair II"]),
        ("Lothair IIa, lothair II, XLothair II", []),
        ("GOV-0017 and GOV-0017.", ["GOV-0017", "GOV-0017"]),
        ("GOV-0017-draft, XGOV-0017, docs/GOV-0017, GOV-0017.md", []),
        ("flask.Flask is not flask.Flask.run", ["flask.Flask"]),
        ("", []),
    ],
)
def test_a_name_stands_alone_and_as_it_is_written(text: str, found: list[str]) -> None:
    assert said(find_catalogued(text, listing("Lothair II", "GOV-0017", "flask.Flask"))) == found


def test_a_short_name_at_the_end_of_a_text_ends_there() -> None:
    assert find_catalogued("the Gate", listing("Gate", "Gate House")) == (Span(4, 8, "Gate"),)


def test_of_names_that_begin_alike_the_longest_that_stands_there_is_found() -> None:
    names = listing("Gate", "Gate House", "Gate House of Kent", "Gate House by Night", "(Gate House")

    assert said(find_catalogued("A Gate House of Kent, (Gate House, Gate Houses", names)) == [
        "Gate House of Kent",
        "(Gate House",
        "Gate",
    ]


def test_a_name_may_begin_with_a_sign() -> None:
    assert said(find_catalogued("put it into __init__.py now", listing("__init__.py"))) == ["__init__.py"]


def test_what_is_taken_is_not_found_again() -> None:
    assert find_catalogued("Gate House", listing("Gate House"), [Span(0, 4, "Gate")]) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("She met Michael Curtiz in Los Angeles.", ["Michael Curtiz", "Los Angeles"]),
        (
            "Duchess of Sussex and the House of the Rising Sun",
            ["Duchess of Sussex", "House of the Rising Sun"],
        ),
        ("However Ask the Night Porter", ["Night Porter"]),
        ("The Night. Porter Lodge", ["Porter Lodge"]),
        ("J. Robert Smith", ["J. Robert Smith"]),
        ("Paris is large, and so is Rome.", []),
        ("Night\nPorter", []),
    ],
)
def test_names_are_runs_of_capitalised_words(text: str, found: list[str]) -> None:
    assert said(find_capitalised(text)) == found


def test_ids_are_found_once_where_they_stand_alone_and_symbols_of_a_program_are_none() -> None:
    codes = ("RFC-2616", "os.path", "--flag", "/etc/passwd", "path", "open_wide", "__name__", "run()")
    text = "xRFC-2616 then RFC-2616, RFC-2616; os.path __name__ run() gate.open_wide --flag"
    assert find_ids(text, codes) == (Span(15, 23, "RFC-2616"),)
