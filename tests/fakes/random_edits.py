"""Edits of any HTML site, chosen by chance: what editors do to pages between two runs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from bs4 import BeautifulSoup, NavigableString, Tag

ElementEdit = Callable[[Tag, Random], None]
PageEdit = Callable[[Path, Random], bool]


def edit_site(pages: Sequence[Path], chance: Random, *, count: int) -> list[str]:
    """Make *count* edits, each on a page of its own, and tell what was done to which."""
    return [f"{_edit(page, chance)} {page.name}" for page in chance.sample(pages, count)]


def _edit(page: Path, chance: Random) -> str:
    edits = chance.sample(_EDITS, len(_EDITS))
    return next(edit.__name__ for edit in edits if edit(page, chance))


def _on_element(selector: str, edit: ElementEdit) -> PageEdit:
    def change(page: Path, chance: Random) -> bool:
        """Whether the page has what is edited."""
        soup = BeautifulSoup(page.read_bytes(), "html.parser")
        elements = [one for one in soup.select(selector) if one.get_text(strip=True)]
        if elements:
            edit(chance.choice(elements), chance)
            page.write_text(str(soup), encoding="utf-8")
        return bool(elements)

    change.__name__ = edit.__name__
    return change


def add_sentence(paragraph: Tag, chance: Random) -> None:
    """Say one thing more, with a number."""
    paragraph.append(f" This has been so for {chance.randrange(2, 1000)} days.")


def remove_paragraph(paragraph: Tag, _: Random) -> None:
    """Take it away."""
    paragraph.extract()


def add_paragraph(paragraph: Tag, chance: Random) -> None:
    """Put another one behind it."""
    paragraph.insert_after(_tag("p", f"Desk {chance.randrange(1000)} answers what is asked about this."))


def rename_heading(heading: Tag, chance: Random) -> None:
    """Give a section another name."""
    heading.append(NavigableString(f" since {chance.randrange(1990, 2030)}"))


def repeat_paragraph(paragraph: Tag, _: Random) -> None:
    """Say the same twice on one page."""
    paragraph.insert_after(_tag("p", paragraph.get_text()))


def remove_link(link: Tag, _: Random) -> None:
    """Leave its text alone."""
    link.unwrap()


def move_paragraph(paragraph: Tag, _: Random) -> None:
    """Let it come before the paragraph that it followed."""
    before = paragraph.find_previous_sibling("p")
    assert before is not None
    before.insert_before(paragraph.extract())


def remove_page(page: Path, _: Random) -> bool:
    """Answer 404 from now on, which any page can."""
    page.unlink()
    return True


def _tag(name: str, text: str) -> Tag:
    tag = BeautifulSoup("", "html.parser").new_tag(name)
    tag.string = text
    return tag


_EDITS: tuple[PageEdit, ...] = (
    *(_on_element("p", edit) for edit in (add_sentence, remove_paragraph, add_paragraph, repeat_paragraph)),
    _on_element("p + p", move_paragraph),
    _on_element("h1, h2, h3", rename_heading),
    _on_element("p a[href]", remove_link),
    remove_page,
)
