"""`sitegraph changes`: what each generation did to documents and chunks."""

import sys
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from indexes.places import place_of
from schemas.json_text import to_json
from sitegraph.cli.completing import complete_source
from sitegraph.cli.options import IndexOption
from sitegraph.cli.reading import read_shown_settings, warn

if TYPE_CHECKING:
    from schemas.feed import Feed, FeedEntry
    from schemas.settings import Settings


class ChangesFormat(StrEnum):
    """How the feed is printed."""

    TEXT = "text"
    JSONL = "jsonl"


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
    source: Annotated[
        str | None, typer.Option(help="Only changes of this source.", autocompletion=complete_source)
    ] = None,
    output: Annotated[
        ChangesFormat, typer.Option("--format", help="Text for people, or JSON lines for programs.")
    ] = ChangesFormat.TEXT,
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
        _warn_of_unknown(settings, source)
    _print(feed, output)


def _print(feed: "Feed", output: ChangesFormat) -> None:
    from schemas.records import to_record

    if output is ChangesFormat.JSONL:
        for entry in feed.entries:
            sys.stdout.write(to_json(to_record(entry), sort_keys=True) + "\n")
        return
    by_document: dict[tuple[int, str], list[FeedEntry]] = {}
    for entry in feed.entries:
        by_document.setdefault((entry.generation, entry.uri), []).append(entry)
    for (generation, uri), entries in by_document.items():
        print(f"{generation:>4}  {_say(entries, uri)}")
    if not feed.entries:
        print(f"nothing changed from generation {feed.since} to {feed.until}")


def _say(entries: "Sequence[FeedEntry]", uri: str) -> str:
    """What became of a document, and how many of its passages and tools changed how."""
    from schemas.feed import FeedKind

    whole = [one for one in entries if one.kind is FeedKind.DOCUMENT]
    named = {one.change.value for one in whole or entries}
    counted = [
        f"{noun}: {', '.join(f'{number} {change}' for change, number in changes.items())}"
        for kind, noun in ((FeedKind.CHUNK, "passages"), (FeedKind.TOOL, "tools"))
        if (changes := Counter(one.change.value for one in entries if one.kind is kind))
    ]
    told = "; ".join([*(one.reason for one in whole), *counted])
    return f"{named.pop() if len(named) == 1 else 'changed':<9}  {uri}  ({told})"


def _warn_of_unknown(settings: "Settings", source: str) -> None:
    """Say that a source has no changes because there is none of that name: a typing error looks just so."""
    from indexes.layout import IndexLayout
    from indexes.publish.current import read_current
    from indexes.publish.generation import load_generation

    folder = place_of(settings)
    known = load_generation(IndexLayout(folder), read_current(folder)).sources.keys() - {""}
    if source not in known:
        warn(f"{source}: no such source in this generation; it has: {', '.join(sorted(known)) or 'none'}")
