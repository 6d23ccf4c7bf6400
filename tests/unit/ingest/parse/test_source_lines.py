"""Chunks of text files know the line they begin on."""

from dataclasses import replace

from ingest.parse.document import with_line_fragments
from ingest.parse.markdown.page import parse_markdown, parse_plain_text
from schemas.fragment import ParseRequest

REQUEST = ParseRequest(uri="files://notes/a.txt", source="notes", path="a.txt")


def count(text: str) -> int:
    return len(text.split())


def test_a_chunk_of_plain_text_has_the_line_that_it_begins_on() -> None:
    paragraphs = [f"Paragraph {n} of the\nrules says {'word ' * 150}{n}." for n in range(6)]
    data = ("Title\n\n\n" + "\n\n".join(paragraphs)).encode()
    fragment = with_line_fragments(parse_plain_text(data, REQUEST, count_tokens=count), data, "L{line}")

    found = {chunk.text.split("\n")[0][:12]: chunk.fragment for chunk in fragment.chunks}
    lines = data.decode().splitlines()
    assert len(found) >= 3
    for begin, line in found.items():
        assert line is not None
        assert lines[int(line[1:]) - 1].startswith(begin), (begin, line)


def test_markup_is_passed_over_and_the_fragment_of_a_heading_stays() -> None:
    data = b"---\nid: A\n---\n**Bold** words of `code` come first here.\n\n# Part\n\nText of the part.\n"
    request = replace(REQUEST, uri="files://notes/a.md", path="a.md")
    fragment = with_line_fragments(parse_markdown(data, request, count_tokens=count), data, "line-{line}")

    assert [chunk.fragment for chunk in fragment.chunks] == ["line-4", "part"]
