"""EPUB: chapters in the order of the spine, places as EPUB CFIs, and how bad files end."""

import io
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from lxml import etree

from schemas.edges import EdgeKind
from schemas.errors import ParseError
from schemas.fragment import GraphFragment
from schemas.ids import canonical_json
from schemas.nodes import Page, is_document, page_of
from schemas.records import to_record
from tests.fakes.epub_files import ebooklib_epub
from tests.fakes.pages import links_of, parse_file, sections_of
from tests.fakes.secret_samples import github_token

SAMPLES = Path(__file__).parents[4] / "samples" / "formats"
BOOK = {
    "Lamps": '<h2>Lamps</h2><p>See <a href="ch2.xhtml#rape">rape</a>.</p><h3 id="wick">Wick</h3>'
    "<p>Cut it.</p>",
    "Oil": '<p>First words.</p><h1>Prices</h1><p id="rape">Rape is '
    '<a href="https://example.org/">dear</a>.</p>',
    "Bells": "<h2>Bells</h2><p>Ring.</p>",
}
CHAPTER = "EPUB/text/ch1.xhtml"


parse = partial(parse_file, path="books/island.epub")


def changed(data: bytes, change: Callable[[str, bytes], bytes], **more: str) -> bytes:
    """The same archive with members changed, and more of them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
        for name, text in more.items():
            new.writestr(f"META-INF/{name}.xml", text)
    return buffer.getvalue()


def element_at(data: bytes, cfi: str) -> str:
    """The text of the element that a CFI leads to in the files of the book, step by step."""
    spine_steps, steps = cfi.removeprefix("epubcfi(").removesuffix(")").split("!")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        package = etree.fromstring(archive.read("EPUB/content.opf"))
        spine = package[int(spine_steps.split("/")[1]) // 2 - 1]
        reference = spine[int(spine_steps.split("/")[2].partition("[")[0]) // 2 - 1]
        href = next(i.get("href") for i in package.iter("{*}item") if i.get("id") == reference.get("idref"))
        element = etree.fromstring(archive.read(f"EPUB/{href}"))
    for step in steps.split("/")[1:]:
        element = element[int(step.partition("[")[0]) // 2 - 1]
    return "".join(element.itertext())


def test_chapters_stand_side_by_side_and_are_named() -> None:
    fragment = parse(ebooklib_epub("The island", BOOK))

    assert [section.heading_path for section in sections_of(fragment)] == [
        ("Lamps",), ("Lamps", "Wick"), ("Oil",), ("Oil", "Prices"), ("Bells",),
    ]  # fmt: skip
    assert (fragment.kind, fragment.title) == ("epub", "The island")
    assert {chunk.breadcrumbs for chunk in fragment.chunks} == {("books", "The island")}
    assert {chunk.lang for chunk in fragment.chunks} == {"en"}


def chapters_of(fragment: GraphFragment) -> list[Page]:
    return [node for node in fragment.nodes if isinstance(node, Page) and not is_document(node)]


def joined(fragment: GraphFragment, kind: EdgeKind) -> list[tuple[str, str]]:
    """Edges of a kind by what their ends are called."""
    names = {node.id: getattr(node, "title", "") or getattr(node, "heading", "") for node in fragment.nodes}
    return [(names[one.src], names[one.dst]) for one in fragment.edges if one.kind is kind and names[one.dst]]


def test_each_chapter_is_a_page_of_the_book_in_reading_order() -> None:
    data = ebooklib_epub("The island", BOOK)
    fragment = parse(data)
    book, *chapters = (node for node in fragment.nodes if isinstance(node, Page))

    assert (book.id, book.title) == (fragment.doc, "The island")
    assert [chapter.title for chapter in chapters] == ["Lamps", "Oil", "Bells"]
    assert {(one.doc, one.path, one.document_kind, one.lang) for one in chapters} == {
        (book.id, "books/island.epub", "epub", "en")
    }
    assert [element_at(data, one.fragment or "").split()[0] for one in chapters] == [
        "Lamps",
        "First",
        "Bells",
    ]
    assert joined(fragment, EdgeKind.NEXT) == [("Lamps", "Oil"), ("Oil", "Bells")]
    assert joined(fragment, EdgeKind.CONTAINS) == [
        ("The island", "Lamps"), ("The island", "Oil"), ("The island", "Bells"),
        ("Lamps", "Lamps"), ("Lamps", "Wick"), ("Oil", "Oil"), ("Oil", "Prices"), ("Bells", "Bells"),
    ]  # fmt: skip


TERMS = (
    "Anchor",
    "Bell",
    "Cable",
    "Deck",
    "Engine",
    "Funnel",
    "Gangway",
    "Hull",
    "Island",
    "Jib",
    "Keel",
    "Lamp",
)
WITH_INDEX = {
    "Lamps": '<h2>Lamps</h2><p>Trim the wick. Oil is <a href="ch2.xhtml#rape">dear</a> and the '
    '<a href="ch2.xhtml#rape">dear</a> oil burns well into the night, whatever the keeper says of it.</p>'
    '<h3 id="wick">Wick</h3><p>Cut it; its price is <a href="ch2.xhtml#rape">dear</a>.</p>',
    "Oil": '<h1>Prices</h1><p id="rape">Rape is pressed on the island.</p>',
    "Index": "<h2>Index</h2>"
    + "".join(f'<h3>{one[0]}</h3><p><a href="ch1.xhtml#wick">{one}</a></p>' for one in TERMS),
}


def test_each_chapter_is_of_its_own_kind_and_the_book_is_content() -> None:
    fragment = parse(ebooklib_epub("The island", WITH_INDEX))
    book, *chapters = (node for node in fragment.nodes if isinstance(node, Page))

    assert [one.page_kind for one in (book, *chapters)] == ["content", "content", "content", "index"]
    assert {(chunk.heading_path[0], chunk.page_kind) for chunk in fragment.chunks} == {
        ("Lamps", "content"), ("Prices", "content"),
    }  # fmt: skip
    assert "a chapter is an index, which is followed and gives no passages" in fragment.warnings
    assert {(one.text, one.position) for one in fragment.links if one.text in ("dear", "Keel")} == {
        ("dear", "body"), ("Keel", "nav"),
    }  # fmt: skip


def test_a_link_from_chapter_to_chapter_stands_in_its_chunk() -> None:
    fragment = parse(ebooklib_epub("The island", WITH_INDEX))
    texts = {chunk.id: chunk.text for chunk in fragment.chunks}
    edges = [one for one in fragment.edges if one.kind is EdgeKind.LINKS_TO]
    said = [one for one in edges if one.anchor_text == "dear"]

    assert [(texts[one.chunk or ""].split(".")[0], one.count) for one in said] == [
        ("Trim the wick", 2), ("Cut it; its price is dear", 1),
    ]  # fmt: skip
    assert all(texts[one.chunk or ""][one.offset or 0 :].startswith("dear") for one in said)
    assert {one.position for one in edges if one.anchor_text in TERMS} == {"nav"}
    assert all(one.chunk for one in edges if one.position != "nav")


def test_a_passage_stands_in_its_chapter_and_in_the_book() -> None:
    fragment = parse(ebooklib_epub("The island", BOOK))
    titles = {node.id: node.title for node in fragment.nodes if isinstance(node, Page)}

    assert [[titles[one] for one in chunk.parent_ids if one in titles] for chunk in fragment.chunks] == [
        ["The island", title] for title in ("Lamps", "Lamps", "Oil", "Oil", "Bells")
    ]
    assert [titles[page_of(chunk)] for chunk in fragment.chunks] == ["Lamps", "Lamps", "Oil", "Oil", "Bells"]


def test_a_chapter_keeps_its_id_and_hash_when_another_changes_or_is_moved() -> None:
    whole = {one.title: one for one in chapters_of(parse(ebooklib_epub("The island", BOOK)))}
    changed_oil = {**BOOK, "Oil": "<p>Other words.</p>"}
    now = {one.title: one for one in chapters_of(parse(ebooklib_epub("The island", changed_oil)))}
    moved = {
        one.title: one for one in chapters_of(parse(changed(ebooklib_epub("The island", BOOK), _backwards)))
    }

    assert {title: one.id for title, one in now.items()} == {title: one.id for title, one in whole.items()}
    assert [title for title in whole if now[title].content_hash != whole[title].content_hash] == ["Oil"]
    assert list(moved) == ["Bells", "Oil", "Lamps"]
    assert {title: one.id for title, one in moved.items()} == {title: one.id for title, one in whole.items()}


def _backwards(name: str, data: bytes) -> bytes:
    """The same book with its spine in reverse."""
    if not name.endswith(".opf"):
        return data
    package = etree.fromstring(data)
    spine = next(package.iter("{*}spine"))
    spine[:] = reversed(spine)
    return etree.tostring(package)


def test_a_link_from_chapter_to_chapter_joins_their_pages() -> None:
    fragment = parse(ebooklib_epub("The island", BOOK))

    assert joined(fragment, EdgeKind.LINKS_TO) == [("Lamps", "Oil")]
    (edge,) = (one for one in fragment.edges if one.kind is EdgeKind.LINKS_TO)
    assert (edge.anchor_text, edge.fragment) == ("rape", links_of(fragment)["rape"].fragment)


def test_text_without_a_heading_stays_in_its_own_chapter() -> None:
    fragment = parse(unlisted(ebooklib_epub("The island", {"One": "<p>First.</p>", "Two": "<p>Second.</p>"})))
    first, second = chapters_of(fragment)

    assert (first.title, second.title) == ("ch1", "ch2")
    assert [chunk.text for chunk in fragment.chunks] == ["First.", "Second."]
    assert [chunk.fragment for chunk in fragment.chunks] == [first.fragment, second.fragment]


def unlisted(data: bytes) -> bytes:
    """The same book with an empty table of contents."""
    return relisted(data, "")


def relisted(data: bytes, points: str) -> bytes:
    """The same book with other entries in its table of contents, as EPUB 2 writes them."""

    def change(name: str, old: bytes) -> bytes:
        if name.endswith(".opf"):
            return old.replace(b' properties="nav"', b"").replace(b'<itemref idref="nav"/>', b"")
        if not name.endswith(".ncx"):
            return old
        head, _, rest = old.partition(b"<navMap>")
        return b"".join((head, b"<navMap>", points.encode(), b"</navMap>", rest.rpartition(b"</navMap>")[2]))

    return changed(data, change)


def point(label: str, src: str, *inside: str) -> str:
    """An entry of such a table, with those below it."""
    below = "".join(inside)
    return f'<navPoint><navLabel><text>{label}</text></navLabel><content src="{src}"/>{below}</navPoint>'


FLAT = "<h1>Lamps</h1><p>Light.</p><h1 id='wick'>Wick</h1><p>Cut it.</p>"
"""A chapter as some publishers write one: its sections have headings of its own level."""


@pytest.mark.parametrize(
    ("points", "wick"),
    [
        (point("Lamps", "text/ch1.xhtml"), ("Lamps", "Wick")),
        (point("Lamps", "text/ch1.xhtml", point("Wick", "text/ch1.xhtml#wick")), ("Lamps", "Wick")),
        (point("Lamps", "text/ch1.xhtml") + point("Wick", "text/ch1.xhtml#wick"), ("Wick",)),
    ],
    ids=["one entry", "an entry below it", "two entries side by side"],
)
def test_the_heading_path_names_the_chapter_unless_the_file_has_several(
    points: str, wick: tuple[str, ...]
) -> None:
    fragment = parse(relisted(ebooklib_epub("The island", {"x": FLAT}), points))

    assert [chapter.title for chapter in chapters_of(fragment)] == ["Lamps"]
    assert [chunk.heading_path for chunk in fragment.chunks] == [("Lamps",), wick]


def test_a_secret_that_only_the_table_of_contents_tells_is_hidden() -> None:
    token = github_token()
    fragment = parse(
        relisted(ebooklib_epub("The island", {"x": FLAT}), point(f"Lamps {token}", "text/ch1.xhtml"))
    )

    assert token not in canonical_json(to_record(fragment))
    assert fragment.secrets
    assert [one.title for one in chapters_of(fragment)] == ["Lamps [redacted]"]


def test_the_fragment_of_a_passage_leads_to_its_heading_in_the_book() -> None:
    data = ebooklib_epub("The island", BOOK)
    found = {
        chunk.section: element_at(data, chunk.fragment or "")
        for chunk in parse(data).chunks
        if chunk.section not in {"Oil", "Prices"}
    }

    assert found == {"Lamps": "Lamps", "Wick": "Wick", "Bells": "Bells"}


def test_a_link_inside_the_book_leads_to_the_place_of_its_target() -> None:
    data = ebooklib_epub("The island", BOOK)
    fragment = parse(data)

    link = links_of(fragment)["rape"]
    assert link.target == fragment.uri
    assert element_at(data, link.fragment or "") == "Rape is dear."
    assert any(link.fragment in (chunk.fragment, *chunk.fragments) for chunk in fragment.chunks)
    assert links_of(fragment)["dear"].target == "https://example.org/"


def test_a_book_of_pandoc_is_read_with_its_notes_and_tables() -> None:
    texts = {one.heading: one.text for one in sections_of(parse((SAMPLES / "epub.2.epub").read_bytes()))}

    assert texts["Tides"] == "Moon | Tide\nfull | spring\nhalf | neap"
    assert "Not in fog." in texts["Landing"]


ENCRYPTED = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData '
    'xmlns="http://www.w3.org/2001/04/xmlenc#"><CipherData><CipherReference URI="{}"/></CipherData>'
    "</EncryptedData></encryption>"
)
LAUGHS = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/hostname">]>'


def same(_name: str, data: bytes) -> bytes:
    return data


def test_a_book_whose_fonts_alone_are_encrypted_is_read() -> None:
    data = changed(ebooklib_epub("The island", BOOK), same, encryption=ENCRYPTED.format("EPUB/font.otf"))

    assert parse(data).chunks


def test_entities_of_a_chapter_are_not_followed() -> None:
    def change(name: str, data: bytes) -> bytes:
        if name != CHAPTER:
            return data
        return data.replace(b"<!DOCTYPE html>", LAUGHS).replace(b"Cut it.", b"Cut &f; it &b;.")

    text = "".join(section.text for section in sections_of(parse(changed(ebooklib_epub("I", BOOK), change))))
    assert "Cut" in text
    assert Path("/etc/hostname").read_text().strip() not in text


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda data: data[: len(data) // 2], "truncated or damaged"),
        (
            lambda data: changed(data, same, encryption=ENCRYPTED.format(CHAPTER)),
            "encrypted: EPUB/text/ch1.xhtml",
        ),
        (
            lambda data: changed(data, lambda n, b: b[:90] if n.endswith(".opf") else b),
            "content.opf is not XML",
        ),
        (lambda data: changed(data, lambda n, b: b.replace(b"itemref", b"other")), "names no chapter"),
        (
            lambda data: changed(data, lambda n, b: b.replace(b'href="text/ch1', b'href="text/no')),
            "there is no EPUB/",
        ),
        (lambda data: changed(data, lambda n, b: b.replace(b"EPUB/content.opf", b"../../x")), "there is no "),
        (lambda data: changed(data, lambda n, b: b"" if n == CHAPTER else b), "no element found"),
        (lambda _: bytes(range(256)) * 9, "truncated or damaged"),
    ],
)
def test_a_bad_file_is_an_error_that_says_what_is_wrong(spoil: Callable[[bytes], bytes], reason: str) -> None:
    with pytest.raises(ParseError, match=rf"island\.epub: .*{reason}"):
        parse(spoil(ebooklib_epub("The island", BOOK)))


def test_an_archive_of_something_else_is_no_epub() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "x")

    with pytest.raises(ParseError, match=r"no EPUB: there is no META-INF/container\.xml"):
        parse(buffer.getvalue())


def with_damaged_member(data: bytes, name: str) -> bytes:
    """The same archive with one member more, whose bytes are not those that it was packed with."""
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(name, "<p>Left over.</p>")
    return buffer.getvalue().replace(b"Left over.", b"Lost bits.")


def test_a_damaged_file_outside_the_spine_is_left_out_and_the_book_is_read() -> None:
    whole = ebooklib_epub("The island", BOOK)
    fragment = parse(with_damaged_member(whole, "EPUB/draft.xhtml"))

    assert fragment.chunks == parse(whole).chunks
    assert fragment.warnings == ("EPUB/draft.xhtml cannot be unpacked; it was left out",)


def test_a_damaged_file_outside_the_spine_hides_no_secret_of_another() -> None:
    draft = f"<p hidden='{github_token()}'>x</p>".encode()
    buffer = io.BytesIO(ebooklib_epub("The island", BOOK))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("EPUB/older.xhtml", draft)

    assert parse(with_damaged_member(buffer.getvalue(), "EPUB/draft.xhtml")).secrets
