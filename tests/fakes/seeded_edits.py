"""Statements of a real site, and edits of its pages that lose them or leave them as they are."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bs4 import BeautifulSoup, Tag

_SENTENCE = re.compile(r"(?<=[.])\s+(?=[A-Z])")
_TELLING = re.compile(r"\d|\b(?:must|only|cannot|not|never|always)\b")
_OPPOSITES = (
    (r"\bcannot\b", "can"),
    (r"\bmust not\b", "must"),
    (r"\bis not\b", "is"),
    (r"\bare not\b", "are"),
    (r"\bdoes not\b", "does"),
    (r"\bdo not\b", "do"),
    (r"\bwill not\b", "will"),
    (r"\bnot\b", ""),
    (r"\bmust\b", "need not"),
    (r"\bnever\b", "always"),
    (r"\balways\b", "never"),
    (r"\bonly\b", "not only"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A sentence of a page, and which paragraph of it has it."""

    page: str
    paragraph: int
    text: str

    @property
    def question(self) -> str:
        """Two thirds of its words, as somebody asks who remembers half."""
        words = self.text.rstrip(".").split()
        return f"What does the manual say of this: {' '.join(words[: len(words) * 2 // 3])}?"


def statements_of(pages: Iterable[Path], *, most: int) -> Iterator[Statement]:
    """Yield up to *most* statements of each page: sentences with a number or a yes or no, one a paragraph.

    None stands on its page twice: what is lost in one place would still be there.
    """
    for page in pages:
        found = 0
        soup = read(page)
        whole = " ".join(soup.get_text().split())
        for number, paragraph in enumerate(paragraphs(soup)):
            told = (one for one in _SENTENCE.split(text_of(paragraph)) if _is_telling(one))
            sentence = next((one for one in told if whole.count(one) == 1), None)
            if sentence and found < most:
                found += 1
                yield Statement(page=page.name, paragraph=number, text=sentence)


def _is_telling(sentence: str) -> bool:
    return 60 <= len(sentence) <= 220 and sentence.endswith(".") and bool(_TELLING.search(sentence))


def read(page: Path) -> BeautifulSoup:
    """Read a page."""
    return BeautifulSoup(page.read_bytes(), "html.parser")


def paragraphs(soup: BeautifulSoup) -> list[Tag]:
    """Paragraphs of its sections, in order."""
    return soup.select("div.sect1 p, div.sect2 p")


def text_of(paragraph: Tag) -> str:
    """Return its text, white space folded."""
    return " ".join(paragraph.get_text().split())


Edit = Callable[[Tag, str], None]


def edit_pages(folder: Path, statements: Iterable[Statement], edits: tuple[Edit, ...]) -> None:
    """Apply to the paragraph of each statement one of *edits*, in turn, and write the pages."""
    soups: dict[str, tuple[BeautifulSoup, list[Tag]]] = {}
    for number, one in enumerate(statements):
        if one.page not in soups:
            soup = read(folder / one.page)
            soups[one.page] = (soup, paragraphs(soup))
        edits[number % len(edits)](soups[one.page][1][one.paragraph], one.text)
    for name, (soup, _) in soups.items():
        (folder / name).write_text(str(soup), encoding="utf-8")


def remove_paragraph(paragraph: Tag, _: str) -> None:
    """Take the paragraph away."""
    paragraph.extract()


def remove_sentence(paragraph: Tag, sentence: str) -> None:
    """Take the sentence away."""
    paragraph.string = text_of(paragraph).replace(sentence, "")


def alter_fact(paragraph: Tag, sentence: str) -> None:
    """Say another number, or the opposite."""
    paragraph.string = text_of(paragraph).replace(sentence, altered(sentence))


def altered(sentence: str) -> str:
    """Return a sentence with another number, or turned into its opposite.

    >>> altered("It waits 5 seconds."), altered("It must wait.")
    ('It waits 8 seconds.', 'It need not wait.')
    """
    if re.search(r"\d", sentence):
        return re.sub(r"\d+", lambda found: str(int(found[0]) + 3), sentence, count=1)
    for word, opposite in _OPPOSITES:
        if re.search(word, sentence):
            return " ".join(re.sub(word, opposite, sentence, count=1).split())
    raise ValueError(sentence)


def replace_paragraph(paragraph: Tag, _: str) -> None:
    """Say something else in its place."""
    paragraph.string = "This section is being written again, and will be back with the next release."


LOSSES: tuple[Edit, ...] = (remove_paragraph, remove_sentence, alter_fact, replace_paragraph, alter_fact)


def respace(paragraph: Tag, _: str) -> None:
    """Break its lines elsewhere."""
    for text in list(paragraph.find_all(string=True)):
        text.replace_with(re.sub(r"\s+", "\n      ", str(text)))


def mark_up(paragraph: Tag, _: str) -> None:
    """Set all of it in another face."""
    inner = BeautifulSoup("<span class='seen'><em></em></span>", "html.parser")
    face = inner.em
    assert face is not None
    for child in list(paragraph.contents):
        face.append(child.extract())
    paragraph.append(inner)


def add_paragraph(paragraph: Tag, _: str) -> None:
    """Put another one behind it."""
    other = BeautifulSoup("<p>Readers of the printed edition find this on another page.</p>", "html.parser")
    paragraph.insert_after(other)


def move_behind_next(paragraph: Tag, _: str) -> None:
    """Let the next paragraph of the section come before it."""
    following = paragraph.find_next_sibling("p")
    if following is not None:
        following.insert_after(paragraph.extract())


def edit_next(paragraph: Tag, _: str) -> None:
    """Add to the paragraph behind it."""
    following = paragraph.find_next_sibling("p")
    (following or paragraph).append(" The index at the end of the book has more.")


HARMLESS: tuple[Edit, ...] = (respace, mark_up, add_paragraph, move_behind_next, edit_next)
