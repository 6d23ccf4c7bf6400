"""`sitegraph wiki`: the pages that answers were filed on, and that people write."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from runtime.settings import read_settings
from schemas.errors import ConfigError
from schemas.redaction import one_line
from schemas.settings import Settings
from sitegraph.cli.options import FormatOption, IndexOption, print_result
from sitegraph.cli.reading import open_for_reading, utc_now, warn

if TYPE_CHECKING:
    from retrieval.wiki.page import PageProblem
    from retrieval.wiki.store import Wiki
    from schemas.records import Record

FOUND_MAX = 10


WikiAction = Literal["list", "search", "read", "check"]


WikiOption = Annotated[
    Path | None,
    typer.Option("--wiki", metavar="DIR", help="Folder of the pages (default: INDEX.wiki beside the index)."),
]


def wiki(
    action: Annotated[WikiAction, typer.Argument(help="list, search TEXT, read CATEGORY/SLUG, or check.")],
    text: Annotated[
        str | None,
        typer.Argument(help="Words to search for, or the page to read. Omit it with list and check."),
    ] = None,
    index: IndexOption = None,
    folder: WikiOption = None,
    output: FormatOption = "text",
) -> None:
    """List, search, read and check the wiki: Markdown pages beside the index that people may edit.

    check compares every page with the index, and marks pages whose sources have changed.

    Examples:

      sitegraph wiki list --index ./index

      sitegraph wiki read topic/what-happens-when-a-lease-expires

      sitegraph wiki check --index ./index --format json
    """
    settings = read_settings(index)
    pages = open_wiki(settings, folder)
    if (text is None) == (action in ("search", "read")):
        wanted = "needs words or a page" if text is None else "takes no text"
        raise ConfigError(f"{action} {wanted}; see sitegraph wiki --help", subject="wiki")
    match action:
        case "read":
            _read(pages, text or "", output)
        case "check":
            _check(pages, settings, output)
        case _:
            _list(pages, text, output)


def open_wiki(settings: Settings, folder: Path | None) -> "Wiki":
    """Return the wiki in *folder*, else the one beside the index; its folder need not be there yet.

    Raises: ConfigError: the index's own folder, or one below it, was named.
    """
    from retrieval.wiki.store import Wiki, wiki_folder

    index = Path(settings.index)
    chosen = folder or wiki_folder(index)
    if chosen.resolve().is_relative_to(index.resolve()):
        raise ConfigError("is inside the index; a wiki needs a folder of its own", subject=str(chosen))
    if chosen.exists() and not chosen.is_dir():
        raise ConfigError("is a file; choose a folder for --wiki", subject=str(chosen))
    return Wiki(chosen)


def _list(pages: "Wiki", text: str | None, output: str) -> None:
    """List all pages, or those that answer to some words."""
    from retrieval.wiki.check import page_record
    from retrieval.wiki.page import PageIndex

    listing = pages.list()
    if text is None:
        _print(map(page_record, listing.pages), listing.problems, output, _line)
        return
    hits = PageIndex(listing.pages).search(text, top_k=FOUND_MAX)
    found = ({**page_record(hit.page), "score": hit.score, "coverage": hit.coverage} for hit in hits)
    _print(found, listing.problems, output, lambda record: f"{record['score']:.3f}  {_line(record)}")


def _read(pages: "Wiki", name: str, output: str) -> None:
    from retrieval.bundle.render import wrap_text
    from retrieval.wiki.check import whole_record
    from retrieval.wiki.front_matter import dump_page

    category, slash, slug = name.partition("/")
    if not slash:
        raise ConfigError("is not a page; write CATEGORY/SLUG, as sitegraph wiki list does", subject=name)
    page = pages.read(category, slug)
    print_result(output, whole_record(page), [wrap_text(dump_page(page), width=10_000)])


def _check(pages: "Wiki", settings: Settings, output: str) -> None:
    from retrieval.wiki.check import check_wiki

    readers = open_for_reading(settings)
    looked, problems = check_wiki(pages, readers.chunks, readers.graph, now=utc_now())
    _print((one.to_record() for one in looked), problems, output, _found)


def _print(
    records: "Iterable[Record]",
    problems: "Iterable[PageProblem]",
    output: str,
    line: "Callable[[Record], str]",
) -> None:
    from schemas.records import to_record

    found = list(records)
    whole = {"pages": found, "problems": [to_record(one) for one in problems]}
    print_result(output, whole, map(line, found))
    for problem in problems if output == "text" else ():
        warn(one_line(f"{problem.path}: {problem.message}"))


def _line(record: "Record") -> str:
    from retrieval.bundle.render import show_line

    return show_line(f"{record['status']:<12} {record['category']}/{record['slug']}  {record['title']}")


def _found(record: "Record") -> str:
    from retrieval.bundle.render import show_line

    lines = [_line(record)]
    if record["stale_chunks"]:
        changed, whole = len(record["stale_chunks"]), len(record["rests_on"])
        lines.append(f"  {changed} of {whole} passages that it rests on changed; ask again to rebuild it")
    lines += [show_line(f"  {line}; ask again to rebuild it") for line in record["moved_sets"]]
    lines += [
        show_line(f"  {one['subject']} {one['predicate']} {one['object']}, or {one['other']}?")
        for one in record["contradictions"]
    ]
    lines += [show_line(f"  [[{target}]] is not a page") for target in record["broken_links"]]
    return "\n".join(lines)
