"""Questions and answers of DocBook, in the markup of its XSL and of its DSSSL style sheets."""

import pytest

from tests.fakes.pages import parse_page

_HEAD = '<meta name="generator" content="DocBook XSL Stylesheets V1.79.1"><body><div class="article">'
_ASKED = {"hot": "Why is the lamp hot?", "cold": "Is it ever cold?"}
_ANSWERS = {"hot": "It gives light. " * 90 + "That warms it.", "cold": "When it is off."}


def _row(name: str, *, with_p: bool) -> str:
    number = f"1.{list(_ASKED).index(name) + 1}."
    asked = f"<p>{_ASKED[name]}</p>" if with_p else f"<b>{_ASKED[name]}</b>"
    return (
        f'<tr class="question"><td align="left" valign="top"><a name="faq.{name}"></a><a name="q-{name}"></a>'
        f'<b>{number}</b></td><td align="left" valign="top">{asked}</td></tr>'
        f'<tr class="answer"><td align="left" valign="top"><a name="a-{name}"></a></td>'
        f'<td align="left" valign="top">{_ANSWERS[name]}</td></tr><tr><td colspan="2">\u00a0</td></tr>'
    )


def _division(name: str) -> str:
    return (
        f'<div class="qandaentry"><div class="question"><p><a name="faq.{name}"></a><b>Q: </b>{_ASKED[name]}'
        f'</p></div><div class="answer"><p><b>A: </b>{_ANSWERS[name]}</p></div></div>'
    )


def _table(*, with_p: bool) -> str:
    rows = "".join(_row(name, with_p=with_p) for name in _ASKED)
    return f'<table border="0" summary="Q and A Set">{rows}</table>'


@pytest.mark.parametrize(
    "entries",
    [_table(with_p=True), _table(with_p=False), "".join(map(_division, _ASKED))],
    ids=["paragraphs in cells", "words in cells", "divisions"],
)
def test_a_question_stands_with_its_answer_and_names_each_part_of_it(entries: str) -> None:
    page = f'{_HEAD}<h1 class="title">Questions</h1><div class="qandaset">{entries}</div></div>'
    *hot, cold = parse_page(page).chunks
    assert [chunk.heading_path for chunk in hot] == [("Questions", _ASKED["hot"])] * len(hot)
    assert hot[0].fragment == "faq.hot"
    assert _ASKED["hot"] in hot[0].text
    assert len(hot) > 1
    assert "It gives light." in hot[0].text
    assert (cold.fragment, cold.heading_path[-1]) == ("faq.cold", _ASKED["cold"])
    assert "Is it ever cold?" in cold.text
    assert "When it is off." in cold.text


def test_the_number_of_a_question_stands_before_it_and_code_in_it_is_no_part_of_its_name() -> None:
    row = (
        '<tr class="question"><td><a name="dies"></a><b>2.1.</b></td><td><b>It dies like this:</b>'
        '<pre class="screen">boom</pre></td></tr><tr class="answer"><td></td><td><p>Let it.</p></td></tr>'
    )
    page = f'{_HEAD}<h1 class="title">Questions</h1><div class="qandaset"><table>{row}</table></div></div>'
    (chunk,) = parse_page(page).chunks
    assert chunk.text == "2.1. It dies like this:\n\nboom\n\nLet it."
    assert chunk.heading_path == ("Questions", "It dies like this:")


def test_questions_on_pages_of_others_are_as_they_stand() -> None:
    page = "<main><h1>Talk</h1><div class=question><p>Why is it hot?</p></div><p>Who knows.</p></main>"
    (chunk,) = parse_page(page).chunks
    assert chunk.heading_path == ("Talk",)
