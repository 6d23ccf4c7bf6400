"""`sitegraph changes`: what each generation did to documents and chunks."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from indexes.places import place_of
from schemas.redaction import to_json
from sitegraph.cli.options import IndexOption, source_option, warn_of_unknown_source
from sitegraph.cli.reading import read_shown_settings

if TYPE_CHECKING:
    from schemas.changes import Feed, FeedEntry


ChangesFormat = Literal["text", "jsonl"]


def changes(
    since: Annotated[
        int | None,
        typer.Option(
            "--since",
            min=0,
            help="Generation that you have; 0 is the empty index (default: the one before the last).",
        ),
    ] = None,
    index: IndexOption = None,
    until: Annotated[
        int | None, typer.Option("--until", min=0, help="Generation to stop at (default: the current one).")
    ] = None,
    source: Annotated[str | None, source_option("Only changes of this source.")] = None,
    output: Annotated[
        ChangesFormat, typer.Option("--format", help="Text for people, or JSON lines for programs.")
    ] = "text",
) -> None:
    """List what was added, replaced, refreshed, moved or removed since a generation.

    People read a line for each document, programs one for each document, chunk and tool. Exit code 1 means
    that the feed no longer goes back that far: take a full copy with export.

    Examples:

      sitegraph changes --index ./index

      sitegraph changes --since 7 --until 9 --source handbook --format jsonl
    """
    from indexes.changes import read_changes

    settings = read_shown_settings(index)
    folder = place_of(settings)
    feed = read_changes(folder, since=since, until=until, source=source, ledger_url=settings.ledger_url)
    if source is not None and not feed.entries:
        from indexes.layout import IndexLayout
        from indexes.publish.current import read_current
        from indexes.publish.generation import load_generation

        known = load_generation(IndexLayout(folder), read_current(folder)).sources
        warn_of_unknown_source(source, known, where=" in this generation; it")
    for line in _lines(feed) if output == "text" else _records(feed):
        print(line)


def _records(feed: "Feed") -> Iterator[str]:
    from schemas.records import to_record

    return (to_json(to_record(entry), sort_keys=True) for entry in feed.entries)


def _lines(feed: "Feed") -> Iterator[str]:
    by_document: dict[tuple[int, str], list[FeedEntry]] = {}
    for entry in feed.entries:
        by_document.setdefault((entry.generation, entry.uri), []).append(entry)
    for (generation, uri), entries in by_document.items():
        yield f"{generation:>4}  {_say(entries, uri)}"
    if not feed.entries:
        yield f"nothing changed from generation {feed.since} to {feed.until}"


def _say(entries: "Sequence[FeedEntry]", uri: str) -> str:
    """What became of a document, and how many of its passages and tools changed how."""
    from schemas.changes import FeedKind

    whole = [one for one in entries if one.kind is FeedKind.DOCUMENT]
    named = {one.change.value for one in whole or entries}
    counted = [
        f"{noun}: {', '.join(f'{number} {change}' for change, number in changes.items())}"
        for kind, noun in ((FeedKind.CHUNK, "passages"), (FeedKind.TOOL, "tools"))
        if (changes := Counter(one.change.value for one in entries if one.kind is kind))
    ]
    told = "; ".join([*(one.reason for one in whole), *counted])
    return f"{named.pop() if len(named) == 1 else 'changed':<9}  {uri}  ({told})"
