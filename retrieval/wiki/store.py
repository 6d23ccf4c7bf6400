"""A wiki: Markdown pages by category and slug, in a folder that people read and edit too."""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from retrieval.wiki.front_matter import dump_page, parse_page, restate_page
from retrieval.wiki.page import PageHit, PageIndex, PageProblem, WikiPage, check_page_name, is_safe, slug_of
from schemas.errors import ConfigError, ParseError, StoreUnavailable

PAGE_MAX = 1_000_000
"""Bytes of a page that are read; more is no page that a person reads."""
SUFFIX = ".md"

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# A pipe in the place of a page would else be waited at for ever.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
"""What exFAT and shared folders say to a hard link; there, a page is looked for and then put."""
_TRIES = 100


def list_page_files(root: Path) -> tuple[tuple[tuple[str, str], ...], tuple[PageProblem, ...]]:
    """Return (category, slug) of every page file, sorted, and what lies there and is none.

    Hidden files and files of other kinds are passed over; a wiki that is not there yet is empty.
    """
    found: list[tuple[str, str]] = []
    problems: list[PageProblem] = []
    for category in _names(root):
        if category.is_symlink() or not category.is_dir(follow_symlinks=False):
            problems += _stray(category.name, is_link=category.is_symlink())
        elif not is_safe(category.name):
            problems.append(_problem(category.name, "is not a valid category name: use a-z, 0-9, -"))
        else:
            slugs, among = _list_category(root, category.name)
            found += ((category.name, slug) for slug in slugs)
            problems += among
    return tuple(found), tuple(problems)


def _list_category(root: Path, category: str) -> tuple[list[str], list[PageProblem]]:
    try:
        entries = _names(root / category)
    except StoreUnavailable as error:
        return [], [_problem(category, error.message)]
    pages = [one for one in entries if _problem_of(one) is None and one.name.endswith(SUFFIX)]
    problems = [
        _problem(f"{category}/{one.name}", message) for one in entries if (message := _problem_of(one))
    ]
    return [one.name.removesuffix(SUFFIX) for one in pages], problems


def read_page_file(root: Path, category: str, slug: str) -> str | None:
    """Return the text of a page's file; None where there is none.

    Raises: ConfigError: an unsafe name; ParseError: it is a link or no file, too long or no UTF-8;
    StoreUnavailable: it cannot be read.
    """
    path = _path(category, slug)
    try:
        with _opened_category(root, category) as folder:
            handle = os.open(f"{slug}{SUFFIX}", _READ, dir_fd=folder)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise ParseError("is not a file; remove it from the wiki", subject=path)
            data = file.read(PAGE_MAX + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refusal(error, path) from error
    if len(data) > PAGE_MAX:
        raise ParseError(f"is longer than {PAGE_MAX} bytes; cut it into several pages", subject=path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ParseError("is not UTF-8; save it as such", subject=path) from error


def put_page_file(
    root: Path, category: str, slug: str, text: str, *, place: Callable[[int, str, str], bool]
) -> bool:
    """Put a page's file there: readers see the old one or the new, never a part. Return whether it was put.

    Args: place: renames a file to a name over what is there, or only if nothing has it, be it a page, a link
    or a folder: the file system decides, so that of two who create one page at once one does.
    Raises: ConfigError: an unsafe name; ParseError: a link or a file stands where its folder belongs;
    StoreUnavailable: it cannot be written.
    """
    path = _path(category, slug)
    try:
        (root / category).mkdir(parents=True, exist_ok=True)
        with _opened_category(root, category) as folder:
            name = _write_beside(folder, slug, text)
            try:
                placed = place(folder, name, f"{slug}{SUFFIX}")
            except OSError:
                os.unlink(name, dir_fd=folder)
                raise
            os.fsync(folder)
    except OSError as error:
        raise _refusal(error, path) from error
    return placed


def _rename_over(folder: int, name: str, target: str) -> bool:
    os.replace(name, target, src_dir_fd=folder, dst_dir_fd=folder)
    return True


def _rename_free(folder: int, name: str, target: str) -> bool:
    """Rename to a free name by `link`, since `rename` takes the place of what is there."""
    try:
        os.link(name, target, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        placed = True
    except FileExistsError:
        placed = False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if target not in os.listdir(folder):
            return _rename_over(folder, name, target)
        placed = False
    os.unlink(name, dir_fd=folder)
    return placed


def _path(category: str, slug: str) -> str:
    return f"{check_page_name(category, what='category')}/{check_page_name(slug, what='slug')}{SUFFIX}"


@contextmanager
def _opened_category(root: Path, category: str) -> Iterator[int]:
    """Open the folder of a category itself, so that what is put in its place meanwhile is never followed."""
    folder = os.open(root / category, _FOLDER)
    try:
        yield folder
    finally:
        os.close(folder)


def _write_beside(folder: int, slug: str, text: str) -> str:
    """Write a hidden file and give its name; one that a process left when it died is passed over."""
    for number in range(_TRIES):
        name = f".{slug}.{os.getpid()}.{number}.tmp"
        try:
            handle = os.open(name, _NEW, 0o666, dir_fd=folder)
        except FileExistsError:
            continue
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            os.unlink(name, dir_fd=folder)
            raise
        return name
    raise FileExistsError(f"{_TRIES} unfinished files of {slug}; remove those that end in .tmp")


def _names(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((e for e in entries if not e.name.startswith(".")), key=lambda entry: entry.name)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _refusal(error, folder.name) from error


def _stray(name: str, *, is_link: bool) -> list[PageProblem]:
    if is_link:
        return [_problem(name, "is a link, and links are not followed")]
    if name.endswith(SUFFIX):
        return [_problem(name, "is in no category: move it to a folder such as topic/")]
    return []


def _problem(path: str, message: str) -> PageProblem:
    """Name a file in characters that any terminal and any JSON can contain: a name may be any bytes."""
    return PageProblem(path=os.fsencode(path).decode("utf-8", "backslashreplace"), message=message)


def _problem_of(entry: os.DirEntry[str]) -> str | None:
    if entry.is_symlink():
        return "is a link, and links are not followed"
    if entry.is_dir(follow_symlinks=False):
        return "is a folder inside a category: pages are not looked for there"
    if entry.name.endswith(SUFFIX) and not is_safe(entry.name.removesuffix(SUFFIX)):
        return "is not a valid page name: rename it to a-z, 0-9 and single dashes, ending in .md"
    return None


def _refusal(error: OSError, path: str) -> ParseError | StoreUnavailable:
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR):
        return ParseError(
            "is a link or no file, and only plain files in plain folders are pages", subject=path
        )
    return StoreUnavailable(f"the wiki cannot be used here ({error.strerror or error})", subject=path)


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
        files, problems = list_page_files(self.folder)
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
        text = read_page_file(self.folder, category, slug)
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
        put_page_file(self.folder, page.category, page.slug, text, place=_rename_over)
        return written

    def add(self, page: WikiPage) -> WikiPage | None:
        """Put a page where nothing has its name; None where anything does, be it a page or not.

        Raises: as `write`.
        """
        text, written = _checked(page)
        put = put_page_file(self.folder, page.category, page.slug, text, place=_rename_free)
        return written if put else None

    def revise(self, page: WikiPage, by: WikiPage) -> WikiPage | None:
        """Put *by*, the same page with what is new, in the place of *page*; None where another was saved.

        What is the same of both stays in the file as it stands.
        Raises: as `write`; ParseError: somebody has half saved it.
        """
        text = read_page_file(self.folder, page.category, page.slug)
        if text is None or parse_page(text, category=page.category, slug=page.slug) != page:
            return None
        _, written = _checked(by)
        restated = restate_page(text, page, by)
        put_page_file(self.folder, page.category, page.slug, restated, place=_rename_over)
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
