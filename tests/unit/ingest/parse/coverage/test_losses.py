"""A word that any stage of a parser loses is found: fifty losses, each by its seed."""

import random
from collections.abc import Callable
from dataclasses import is_dataclass, replace
from pkgutil import resolve_name
from typing import Any

import pytest

from ingest.parse.document import parse_document
from ingest.parse.wording import fold_words
from schemas.fragment import ParseRequest, WordCoverage
from tests.fakes.pages import count_words
from tests.fakes.pdfs import Text, code, heading, pdf_bytes

_LETTERS = "bcdfghklmnprstvz"


def words(number: int) -> list[str]:
    """As many words, each of which stands in the document once."""
    return [
        f"{_LETTERS[n % 16]}a{_LETTERS[n // 16 % 16]}o{_LETTERS[n // 256 % 16]}ile" for n in range(number)
    ]


def text(start: int, number: int) -> str:
    """A stretch of them."""
    return " ".join(words(start + number)[start:])


HTML = f"""<!DOCTYPE html><html><head><title>{text(0, 2)}</title></head><body>
<nav><a href="/a">{text(200, 4)}</a></nav><main><h1>{text(0, 2)}</h1>
<p>{text(2, 40)}, <b>{text(42, 3)}</b>.</p>
<h2 id="b">{text(45, 3)}</h2><ul><li>{text(48, 8)}</li><li>{text(56, 8)}</li></ul>
<table><tr><th>{text(64, 2)}</th><th>{text(66, 2)}</th></tr>
<tr><td>{text(68, 4)}</td><td>{text(72, 4)}</td></tr>
</table><pre>{text(76, 6)}</pre><dl><dt>{text(82, 2)}</dt><dd>{text(84, 20)}</dd></dl>
<p>{text(104, 60)}</p></main><footer>{text(204, 4)}</footer></body></html>""".encode()

MARKDOWN = f"""# {text(0, 2)}

{text(2, 40)} **{text(42, 3)}**.

## {text(45, 3)}

- {text(48, 8)}
- {text(56, 8)}

| {text(64, 2)} | {text(66, 2)} |
|---|---|
| {text(68, 4)} | {text(72, 4)} |

```
{text(76, 6)}
```

{text(104, 60)}
""".encode()

PDF = pdf_bytes(
    [
        [heading(text(0, 2)), Text(text(2, 60)), code(text(62, 6))],
        [heading(text(70, 2)), Text(text(72, 60))],
    ]
)

STAGES = [
    *((name, HTML, "html") for name in (
        "ingest.parse.html.page.decode_html",
        "ingest.parse.html.page.parse_tree",
        "ingest.parse.html.flow.Flow.text",
        "ingest.parse.html.flow.Flow.verbatim",
        "ingest.parse.html.inline.normal_space",
        "ingest.parse.html.blocks.table_text",
        "ingest.parse.html.blocks.code_text",
        "ingest.parse.html.blocks.split_heading",
        "ingest.parse.chunk_spans.ChunkSpan.text_of",
    )),
    *((name, MARKDOWN, "md") for name in (
        "ingest.parse.markdown.page.decode_text",
        "ingest.parse.markdown.page.read_markdown",
        "ingest.parse.chunk_spans.ChunkSpan.text_of",
    )),
    *((name, PDF, "pdf") for name in (
        "ingest.parse.pdf.page.read_line",
        "ingest.parse.pdf.joining._seam",
        "ingest.parse.chunk_spans.ChunkSpan.text_of",
    )),
]  # fmt: skip


def cover(data: bytes, ending: str) -> WordCoverage:
    """The account of a document."""
    request = ParseRequest(uri=f"http://h.example/a.{ending}", source="docs")
    found = parse_document(data, request, count_tokens=count_words).coverage
    assert found is not None
    return found


class Loser:
    """Takes a word out of every text that it stands in."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.has_lost = False

    def without(self, value: Any) -> Any:
        """The value, or what is left of it."""
        if isinstance(value, str) and self.word in value:
            self.has_lost = True
            return value.replace(self.word, "")
        if isinstance(value, tuple):
            return tuple(self.without(one) for one in value)
        if is_dataclass(value) and not isinstance(value, type) and hasattr(value, "text"):
            told = self.without(value.text)
            return value if told == value.text else replace(value, text=told)
        return value

    def around(self, act: Callable[..., Any]) -> Callable[..., Any]:
        """The act, which loses the word on the way in or out."""

        def lose(*given: Any, **named: Any) -> Any:
            given = tuple(self.without(one) if isinstance(one, str) else one for one in given)
            named = {name: self.without(one) if isinstance(one, str) else one for name, one in named.items()}
            return self.without(act(*given, **named))

        return lose


@pytest.mark.parametrize("document", [(HTML, "html"), (MARKDOWN, "md"), (PDF, "pdf")], ids=lambda one: one[1])
def test_nothing_is_lost_where_nothing_was_taken(document: tuple[bytes, str]) -> None:
    found = cover(*document)
    assert (found.lost, found.losses, found.invented) == (0, (), 0)
    assert found.seen == found.kept + sum(count for _, count in found.dropped)


@pytest.mark.parametrize("seed", range(50))
def test_a_word_that_a_stage_loses_is_found(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    name, data, ending = STAGES[seed % len(STAGES)]
    candidates = chance.sample(words(164)[2:], 162)  # a page's title is put back where a heading loses it
    for word in candidates:
        loser = Loser(word)
        with monkeypatch.context() as patch:
            patch.setattr(name, loser.around(resolve_name(name)))
            found = cover(data, ending)
        if loser.has_lost:
            assert found.lost == 1
            assert [loss.word for loss in found.losses] == [fold_words(word)]
            return
    pytest.fail(f"{name} has none of the words")
