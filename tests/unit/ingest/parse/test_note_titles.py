"""Every part of a note that is cut says what the note is."""

import pytest

from ingest.parse.chunk_spans import ChunkSpan, cut_chunks
from ingest.parse.chunking import MAX_TOKENS
from ingest.parse.outline import BoxSpan, Stretch
from ingest.parse.page_chunks import NoteTitles
from ingest.parse.round_trip import check_round_trips
from schemas.fragment import GraphFragment
from tests.fakes.pages import count_words, parse_file, parse_page

LINES = [f"Line {number} of the note is long enough to count as one." for number in range(60)]
PARAGRAPHS = "".join(f"<p>{line}</p>" for line in LINES)


def parts(markup: str, around: str = "") -> GraphFragment:
    return parse_page(f"<main><h2>Paint</h2><p>Before it.</p>{markup}{around}</main>")


def assert_named(fragment: GraphFragment, title: str) -> None:
    own = [chunk for chunk in fragment.chunks if "of the note" in chunk.text]
    assert len(own) > 2
    assert all(any(line.startswith(title) for line in chunk.text.splitlines()) for chunk in own)
    assert all(chunk.text.count(title) == 1 for chunk in own)
    assert all(count_words(chunk.text) <= MAX_TOKENS for chunk in own)
    assert all(trip.in_parent for trip in check_round_trips(fragment))


@pytest.mark.parametrize(
    ("markup", "title"),
    [
        (f"<div class=warning>{PARAGRAPHS}</div>", "Warning"),
        (
            f"<div class='admonition danger'><p class=admonition-title>Wet paint</p>{PARAGRAPHS}</div>",
            "Danger: Wet paint",
        ),
        (f"<div class=note><p><b>Note:</b> Mind it.</p>{PARAGRAPHS}</div>", "Note:"),
        (f"<details><summary>Why?</summary>{PARAGRAPHS}</details>", "Why?"),
    ],
)
def test_each_part_of_a_long_note_says_what_it_is(markup: str, title: str) -> None:
    assert_named(parts(markup), title)


def test_what_stands_behind_a_note_is_none_of_it() -> None:
    behind = "".join(
        f"<p>Line {number} behind it is no warning at all, and long.</p>" for number in range(60)
    )
    fragment = parts(f"<div class=warning>{PARAGRAPHS}</div>", behind)
    only_behind = [chunk for chunk in fragment.chunks if "of the note" not in chunk.text]
    assert len(only_behind) > 2
    assert not any(chunk.text.startswith("Warning") for chunk in only_behind)


def test_a_part_that_begins_in_the_next_note_has_no_title_of_the_one_before() -> None:
    first, rest, second = (
        "Dry paint ahead",
        "It dried.\n\nAll of it, on every wall.",
        "Wet paint\nIt is wet here.",
    )
    text = f"{first}\n{rest}\n\n{second}"
    ends = len(first) + 1 + len(rest)
    boxes = [BoxSpan(0, len(first), ends), BoxSpan(ends + 2, ends + 11, len(text))]
    whole = ChunkSpan(len(first) + 1, len(text))
    spans = list(NoteTitles(text, boxes, count_words).repeated([whole], 14))
    says = [span.text_of(text) for span in spans]
    assert says[0].startswith(first)
    assert says[-1] == second


def test_of_notes_in_each_other_the_inner_one_is_named() -> None:
    inner = f"<div class=warning>{PARAGRAPHS}</div>"
    assert_named(parts(f"<details><summary>More</summary><p>Read on.</p>{inner}</details>"), "Warning")


def test_a_long_table_in_a_note_repeats_the_title_and_the_header() -> None:
    rows = "".join(f"<tr><td>{number}</td><td>{line}</td></tr>" for number, line in enumerate(LINES))
    table = f"<table><tr><th>Number</th><th>What</th></tr>{rows}</table>"
    fragment = parts(f"<div class=warning><p>See all.</p>{table}</div>")
    later = [chunk for chunk in fragment.chunks if "of the note" in chunk.text][1:]
    assert all(chunk.text.startswith("Warning\nNumber | What\n") for chunk in later)
    assert all(trip.in_parent for trip in check_round_trips(fragment))


@pytest.mark.parametrize(("title", "is_repeated"), [(190, False), (4, True)])
def test_a_title_and_a_header_together_leave_half_of_a_chunk_to_the_rows(
    title: int, is_repeated: bool
) -> None:
    limit, titled, header = 400, "T " * title, "H " * 195
    rows = "\n".join(f"row {number} says that it is one of many" for number in range(500))
    text = f"{titled}\n{header}\n{rows}"
    table = Stretch(len(titled) + 1, len(text), len(titled) + 1 + len(header))
    plain = cut_chunks(text, (table,), max_tokens=limit, count_tokens=count_words)
    titles = NoteTitles(text, [BoxSpan(0, len(titled), len(text))], count_words)

    found = list(titles.repeated(plain, limit))

    assert all(count_words(span.text_of(text)) <= limit for span in found)
    assert len(found) <= len(plain) + 1
    going_on = [span.header for span in found if "H" in span.header]
    assert len(going_on) > 20
    assert all(above.startswith("T") is is_repeated for above in going_on)


def test_a_quotation_has_no_title() -> None:
    fragment = parts(f"<blockquote>{PARAGRAPHS}</blockquote>")
    assert [chunk.text for chunk in fragment.chunks] == [chunk.text for chunk in parts(PARAGRAPHS).chunks]


def test_an_alert_of_markdown_is_a_note() -> None:
    text = "# Paint\n\n> [!WARNING]\n> Mind it.\n" + "".join(f">\n> {line}\n" for line in LINES)
    assert_named(parse_file(text), "Warning")
