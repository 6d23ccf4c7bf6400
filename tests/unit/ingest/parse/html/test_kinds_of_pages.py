"""Pages of unusual make: framesets, formulas, many languages, large ones, the name of the site on top."""

import pytest

from ingest.parse.html.content import ContentBy
from ingest.parse.html.page import CONFIDENCE
from schemas.text import encoded_text
from tests.fakes.pages import links_of, parse_page, sections_of

LANGUAGES = {
    "ar": "المصباح يضيء الغرفة. اضغط الزر مرة واحدة.",
    "de": "Die Lampe leuchtet über Nacht. Drücken Sie größere Tasten.",
    "el": "Η λάμπα φωτίζει το δωμάτιο. Πατήστε το κουμπί μία φορά.",
    "en": "The lamp lights the room. Press the button once.",
    "fa": "چراغ می\u200cدرخشد. دکمه را یک بار فشار دهید.",
    "hi": "दीपक कमरे को रोशन करता है। बटन एक बार दबाएँ।",
    "ja": "ランプは部屋を照らします。ボタンを一度押してください。",
    "ko": "램프가 방을 밝힙니다. 버튼을 한 번 누르세요.",
    "ru": "Лампа освещает комнату. Нажмите кнопку один раз.",
    "th": "โคมไฟส่องสว่างห้อง กดปุ่มหนึ่งครั้ง",
    "zh": "灯照亮房间。按一次按钮。",
}


@pytest.mark.parametrize(("lang", "text"), LANGUAGES.items())
def test_text_of_any_script_is_kept_sign_by_sign_and_cut_within_the_limit(lang: str, text: str) -> None:
    body = "".join(f"<p>{text} {number}</p>" for number in range(60))
    fragment = parse_page(f"<html lang={lang}><meta charset=utf-8><main><h1>{text}</h1>{body}</main>")
    (section,) = sections_of(fragment)
    assert section.heading == text
    assert section.text == "\n\n".join(f"{text} {number}" for number in range(60))
    assert "".join(chunk.text for chunk in fragment.chunks).replace("\n", "") == section.text.replace(
        "\n", ""
    )
    assert {chunk.lang for chunk in fragment.chunks} == {lang}
    assert max(chunk.token_count for chunk in fragment.chunks) <= 250


def test_frames_are_links_and_their_markup_is_no_text() -> None:
    frames = "<frame src=toc.html name=toc><frame src=text.html title='The text'>"
    without = "<noframes><body><p>No frames?</p></noframes>"
    fragment = parse_page(f"<title>Manual</title><frameset cols='20%,*'>{frames}{without}</frameset>")
    assert (fragment.title, fragment.chunks) == ("Manual", ())
    assert {text: link.target for text, link in links_of(fragment).items()} == {
        "toc": "http://docs.example/guide/toc.html",
        "The text": "http://docs.example/guide/text.html",
    }


def test_a_page_within_a_page_is_a_link_unless_it_is_hidden() -> None:
    counter = "<iframe src=https://count.example/ns style='display:none'></iframe>"
    links = links_of(parse_page(f"<main><h1>A</h1><iframe src=d.html title=Demo></iframe>{counter}</main>"))
    assert list(links) == ["Demo"]


@pytest.mark.parametrize("start", ["/", "http://docs.example", "//docs.example/"])
def test_the_name_of_a_site_on_top_of_its_pages_is_in_no_path(start: str) -> None:
    fragment = parse_page(
        f"<title>Use it</title><header><h1><a href='{start}'>Lamps</a></h1></header>"
        "<main><h2>Use it</h2><p>x</p></main>"
    )
    assert [chunk.heading_path for chunk in fragment.chunks] == [("Use it",)]


def test_another_trail_and_another_number_change_nothing_of_what_is_encoded() -> None:
    def page(trail: str, number: int) -> str:
        crumbs = f"<nav aria-label=breadcrumb><ol><li>{trail}</ol></nav>"
        return f"{crumbs}<main><h2><span class=section-number>{number}. </span>Use</h2><p>x</p></main>"

    (old,), (new,) = (parse_page(page(trail, n)).chunks for trail, n in (("Lamps 1.0", 3), ("Lamps 2.0", 4)))
    assert old.breadcrumbs != new.breadcrumbs
    assert (old.id, old.content_hash) == (new.id, new.content_hash)
    assert encoded_text(new.heading_path, new.text) == "Use\nx"


def test_no_passage_holds_text_of_two_headings() -> None:
    tiny = "".join(f"<h{2 + number % 2}>H{number}</h{2 + number % 2}><p>t{number}</p>" for number in range(9))
    assert [(chunk.section, chunk.text) for chunk in parse_page(f"<main>{tiny}</main>").chunks] == [
        (f"H{number}", f"t{number}") for number in range(9)
    ]


@pytest.mark.parametrize(
    ("page", "by"),
    [
        ("<meta name=generator content=mkdocs><article><h1>A</h1><p>x</p></article>", ContentBy.CONTAINER),
        ("<body><div><h1>A</h1><p>x</p></div>", ContentBy.BODY),
        (
            "<body><div class=a><p>" + "The lamp lights the room at night. " * 30 + "</p></div><p>x</p>",
            ContentBy.VOTE,
        ),
    ],
)
def test_how_the_content_was_found_is_how_sure_the_structure_is(page: str, by: ContentBy) -> None:
    assert {chunk.structure_confidence for chunk in parse_page(page).chunks} == {CONFIDENCE[by]}


def test_a_page_of_six_megabytes_is_read_whole() -> None:
    sections = "".join(
        f"<section id=s{number}><h2>Part {number}</h2><p>{'word ' * 1_200}</p></section>"
        for number in range(1_000)
    )
    fragment = parse_page(f"<main><h1>Book</h1>{sections}</main>")
    assert len(sections) > 6_000_000
    assert [section.fragment for section in sections_of(fragment)][1:] == [f"s{n}" for n in range(1_000)]
    assert not fragment.warnings
