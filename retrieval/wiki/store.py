"""A wiki: Markdown pages by category and slug, in a folder that people read and edit too."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from retrieval.wiki.folder import create_file, list_files, read_file, replace_file
from retrieval.wiki.front_matter import dump_page, parse_page
from retrieval.wiki.page import PageProblem, WikiPage
from retrieval.wiki.restating import restate_page
from retrieval.wiki.search import PageHit, PageIndex
from retrieval.wiki.slugs import slug_of
from schemas.errors import ConfigError, ParseError, StoreUnavailable


def wiki_folder(index: Path) -> Path:
    """Return the folder of an index's wiki: `NAME.wiki` beside the index folder `NAME`, never in it.

    Raises: ConfigError: beside the root of the file system is no place.
    """
    whole = index.resolve()
    if not whole.name:
        raise ConfigError("has no place beside it for a wiki; choose another --index", subject=str(index))
    return whole.with_name(f"{whole.name}.wiki")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All pages that can be read, by (category, slug), and what cannot be, each with why."""

    pages: tuple[WikiPage, ...]
    problems: tuple[PageProblem, ...]


class Wiki:
    """Search, read, write and list pages. The folder is made with the first page that is written.

    Reads the files each time: what a person saves is there at once. Any number of processes may read and
    write; of two that write one page, the later wins whole.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def list(self) -> Listing:
        """Return every page; a broken one is a problem, never an error."""
        files, problems = list_files(self.folder)
        pages: list[WikiPage] = []
        broken: list[PageProblem] = []
        for category, slug in files:
            try:
                pages.append(self.read(category, slug))
            except (ParseError, ConfigError, StoreUnavailable) as error:
                broken.append(PageProblem(path=error.subject, message=error.message))
        listed = sorted((*problems, *broken), key=lambda one: (one.path, one.message))
        return Listing(pages=tuple(pages), problems=tuple(listed))

    def read(self, category: str, slug: str) -> WikiPage:
        """Return one page.

        Raises: ConfigError: an unsafe name, or no such page; ParseError: it cannot be read, and why.
        """
        text = read_file(self.folder, category, slug)
        if text is None:
            raise ConfigError(
                "no such page; sitegraph wiki list names those there are", subject=f"{category}/{slug}.md"
            )
        return parse_page(text, category=category, slug=slug)

    def search(self, query: str, *, top_k: int = 3) -> tuple[PageHit, ...]:
        """Return the pages that share words with *query*, best first, by title and text."""
        return PageIndex(self.list().pages).search(query, top_k=top_k)

    def write(self, page: WikiPage) -> WikiPage:
        """Put a page there, whole or not at all, in the place of any of its name; gives it as it reads back.

        Raises: ConfigError: an unsafe category or slug, an empty title; StoreUnavailable: the folder
        cannot be written to.
        """
        text, written = _checked(page)
        replace_file(self.folder, page.category, page.slug, text)
        return written

    def add(self, page: WikiPage) -> WikiPage | None:
        """Put a page where nothing has its name; None where anything does, be it a page or not.

        Raises: as `write`.
        """
        text, written = _checked(page)
        return written if create_file(self.folder, page.category, page.slug, text) else None

    def revise(self, page: WikiPage, by: WikiPage) -> WikiPage | None:
        """Put *by*, the same page with what is new, in the place of *page*; None where another was saved.

        What is the same of both stays in the file as it stands.
        Raises: as `write`; ParseError: somebody has half saved it.
        """
        text = read_file(self.folder, page.category, page.slug)
        if text is None or parse_page(text, category=page.category, slug=page.slug) != page:
            return None
        _, written = _checked(by)
        replace_file(self.folder, page.category, page.slug, restate_page(text, page, by))
        return written


def _checked(page: WikiPage) -> tuple[str, WikiPage]:
    """Return the file of a page, and the page as it reads back."""
    text = dump_page(page)
    try:
        return text, parse_page(text, category=page.category, slug=page.slug)
    except ParseError as error:
        raise ConfigError(f"is not a page: {error.message}", subject=page.ref) from error


def resolve_links(pages: tuple[WikiPage, ...]) -> Mapping[str, tuple[str, ...]]:
    """Return for each page, by `category/slug`, the targets of its links that are no page.

    A link names a page as `category/slug`, by its slug alone, or by its title.
    """
    known = {name for page in pages for name in (page.ref, page.slug)}
    titles = {slug_of(page.title) for page in pages}
    broken: dict[str, tuple[str, ...]] = {}
    for page in pages:
        missing = tuple(link for link in page.links if link not in known and slug_of(link) not in titles)
        if missing:
            broken[page.ref] = missing
    return broken
