from lxml import html

from ingest.parse.html.tables import MAX_CELLS, is_layout, table_text


def lines(markup: str) -> list[str]:
    return table_text(html.fromstring(markup)).text.splitlines()


def test_cells_are_joined_row_by_row() -> None:
    assert lines("<table><thead><tr><th>A<th>B</thead><tr><td>1<td> 2 <b>x</b></table>") == [
        "A | B",
        "1 | 2 x",
    ]


def test_spans_fill_every_cell_they_cover() -> None:
    markup = "<table><tr><td rowspan=2>a<td colspan=2>b<tr><td>c<td>d</table>"
    assert lines(markup) == ["a | b | b", "a | c | d"]


def test_a_few_bytes_cannot_ask_for_a_billion_cells() -> None:
    bomb = "<table>" + "<tr><td rowspan=65534 colspan=1000>x<td>y" * 200 + "</table>"
    assert sum(line.count("|") for line in lines(bomb)) <= MAX_CELLS + 400


def test_no_cell_that_a_table_has_is_lost() -> None:
    rows = MAX_CELLS // 2 + 10
    assert lines("<table>" + "<tr><td>a<td>b" * rows + "</table>") == ["a | b"] * rows


def test_hidden_cells_and_rows_are_not_read() -> None:
    assert lines("<table><tr><td>a<td hidden>b<td>c<tr hidden><td>d<td>e</table>") == ["a | c"]


def test_ids_point_at_their_cell() -> None:
    table = table_text(
        html.fromstring("<table><tr id=r><td>ab<td id=c>cd<tr><td>e<td><i id=i>f</i></table>"),
        own_id=lambda element: element.get("id"),
    )
    assert [(table.text[offset:][:2].strip(), name) for offset, name in table.anchors] == [
        ("ab", "r"),
        ("cd", "c"),
        ("f", "i"),
    ]


def test_tables_for_looks_are_told_apart() -> None:
    assert is_layout(html.fromstring("<table><tr><td>one<tr><td>two</table>"))
    assert is_layout(html.fromstring("<table role=presentation><tr><td>a<td>b</table>"))
    assert is_layout(html.fromstring("<table><tr><td>a<td><table><tr><td>b</table></table>"))
    assert not is_layout(html.fromstring("<table><tr><td>a<td>b</table>"))
