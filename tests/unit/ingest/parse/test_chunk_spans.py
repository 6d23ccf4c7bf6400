"""How a section is cut: rows under their header, code in one piece, no crumbs."""

from ingest.parse.chunk_spans import LONG, cut_chunks
from ingest.parse.outline import Stretch
from tests.fakes.pages import count_words, parse_page

HEADER = "name | value"
ROWS = "\n".join(f"row{number} | some value of it" for number in range(30))


def cut(text: str, *stretches: Stretch, limit: int = 60) -> list[str]:
    spans = cut_chunks(text, stretches, max_tokens=limit, count_tokens=count_words)
    return [passage.text_of(text) for passage in spans]


def test_a_table_that_does_not_fit_repeats_its_header_over_every_part() -> None:
    table = f"{HEADER}\n{ROWS}"
    parts = cut(table, Stretch(0, len(table), len(HEADER)))
    assert len(parts) > 3
    assert all(part.startswith(f"{HEADER}\nrow") for part in parts)
    assert all(count_words(part) <= 60 for part in parts)
    assert "\n".join(part.removeprefix(f"{HEADER}\n") for part in parts) == ROWS


def test_a_table_that_fits_stays_with_the_text_around_it() -> None:
    table = f"{HEADER}\nrow | x"
    text = f"Before it.\n\n{table}\n\nAfter it."
    assert cut(text, Stretch(12, 12 + len(table), 12 + len(HEADER))) == [text]


def test_a_header_that_fills_the_room_is_not_repeated() -> None:
    header = " | ".join("column" for _ in range(25))
    table = f"{header}\n{ROWS}"
    parts = cut(table, Stretch(0, len(table), len(header)))
    assert sum(part.startswith("column") for part in parts) == 1


def test_code_that_fits_is_not_cut_at_its_blank_lines() -> None:
    code = "\n\n".join(f"def f{number}(): return {number} + one + two" for number in range(6))
    prose = "Words of prose stand here. " * 8
    text = f"{prose}\n\n{code}\n\n{prose}"
    start = text.index("def f0")
    whole = cut(text, Stretch(start, start + len(code), start))
    assert any(code in part for part in whole)
    assert not any(code in part for part in cut(text))


def test_code_in_a_list_that_does_not_fit_is_cut_around_and_not_inside() -> None:
    code = "\n\n".join(f"def f{number}(): return {number} + one + two" for number in range(6))
    item = "- " + "Words of an item stand here and go on. " * 6
    text = f"{item}\n{code}\n{item}\n{item}"
    start = text.index("def f0")
    assert any(code in part for part in cut(text, Stretch(start, start + len(code), start)))


def test_every_part_of_long_code_has_the_heading_name_and_language_of_the_whole() -> None:
    code = "\n\n".join(f"def f{number}():\n    return {'x + ' * 10}1" for number in range(40))
    name = "<div class=code-block-caption>rig.py</div>"
    page = parse_page(f"<main><h2>Rig</h2>{name}<pre><code class=language-python>{code}</code></pre></main>")
    assert len(page.chunks) > 2
    assert {(one.heading_path, one.captions, one.code_languages) for one in page.chunks} == {
        (("Rig",), ("rig.py",), ("python",))
    }


def test_code_that_does_not_fit_is_cut_at_its_blank_lines() -> None:
    code = "\n\n".join(f"def f{number}():\n    return {'x + ' * 10}1" for number in range(12))
    assert all(part.startswith("def f") for part in cut(code, Stretch(0, len(code), 0)))


def test_a_line_over_a_long_table_stands_with_its_first_rows() -> None:
    table = f"{HEADER}\n{ROWS}"
    text = f"Values:\n\n{table}"
    parts = cut(text, Stretch(9, len(text), 9 + len(HEADER)))
    assert parts[0].startswith("Values:\n\nname | value\nrow0")


def test_ids_inside_a_passage_lead_to_it() -> None:
    page = """<main><section id=top><span id=alias></span><h1 id=own>T</h1><p>a <b id=inner>b</b></p>
    <p id=p2>c</p>
    </section></main>"""
    [chunk] = parse_page(page).chunks
    assert chunk.fragment == "own"
    assert set(chunk.fragments) == {"top", "alias", "inner", "p2"}


def test_a_word_without_end_is_cut_although_tokenizers_call_it_one_token() -> None:
    word = "x" * 20_000
    parts = cut(word)
    assert "".join(parts) == word
    assert all(len(part) <= 60 * LONG for part in parts)
