"""`run` without a source file: what is assumed, said beforehand, and how to go on, said at the end."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from indexes.layout import IndexLayout
from indexes.places import place_of
from schemas.errors import ConfigError
from schemas.settings import Settings
from schemas.source import Source
from sitegraph.cli.starting.guess import TRY_PAGES, as_source_file, guess, guessed_source
from sitegraph.cli.starting.proposal import Proposal
from sitegraph.cli.starting.target import Target, find_target


@contextmanager
def as_file_of(
    source: str, settings: Settings, *, allow_private: Sequence[str], is_try: bool, quiet: bool = False
) -> Iterator[Path]:
    """Give the source file of a run: the one that is named, or for a try one that lasts as long as the block.

    Raises: ConfigError: nothing is there, or the index has a source of that name that is another.
    """
    if not is_try:
        yield Path(source)
        return
    target = find_target(source)
    proposal = _try(target, settings, allow_private)
    _check_new(target, settings, allow_private)
    for line in () if quiet else assumptions(proposal, index=settings.index):
        print(f"sitegraph: {line}", file=sys.stderr)
    with as_source_file(proposal) as path:
        yield path


def _try(target: Target, settings: Settings, allow_private: Sequence[str]) -> Proposal:
    return guess(target, index=settings.index, allow_private=allow_private, max_pages=TRY_PAGES)


def assumptions(proposal: Proposal, *, index: str) -> Iterator[str]:
    """Say what a try takes for granted."""
    target = proposal.target
    yield f"no source file: trying {target.place} as source {target.name} into {index}"
    if proposal.seed is None:
        yield f"at most {proposal.max_pages} documents"
    else:
        pace = proposal.rate.per_host_delay
        every = (
            f"a page every {pace:g} s" if pace else "without a pause between pages, since the host is yours"
        )
        yield f"pages that match {proposal.include[0]}, at most {proposal.max_pages}, {every}"


def say_how_to_go_on(source: str, *, index: str | None, allow_private: Sequence[str]) -> None:
    """Say on stderr how to make more of it."""
    rest = ["--index", index] if index else []
    allowed = [word for entry in allow_private for word in ("--allow-private", entry)]
    ask = shlex.join(["sitegraph", "query", "...", *rest])
    more = shlex.join(["sitegraph", "init", source, *allowed, *rest])
    print(f"sitegraph: to ask it: {ask}; to index all of it, write a source file: {more}", file=sys.stderr)


def _check_new(target: Target, settings: Settings, allow_private: Sequence[str]) -> None:
    """Refuse what would cut down a source that is there already, to what a try has of it.

    A try again with more addresses allowed than before cuts nothing down; with fewer it may lose pages.
    """
    if (known := _known(target.name, settings)) is None:
        return
    subject = f"source {target.name}"
    if known != guessed_source(_try(target, settings, known.allow_private)):
        raise ConfigError(
            "the index already has this source, from a source file; run that file, or choose another --index",
            subject=subject,
        )
    if missing := [entry for entry in known.allow_private if entry not in allow_private]:
        flags = " ".join(f"--allow-private {entry}" for entry in missing)
        raise ConfigError(
            f"{', '.join(missing)} may be asked only if it is allowed, as in the try before; add {flags}",
            subject=subject,
        )


def _known(name: str, settings: Settings) -> Source | None:
    """Return the source of that name that the index has."""
    if not IndexLayout(place_of(settings)).manifest.exists():
        return None
    from flows.run.opening import open_described

    opened = open_described(settings)
    try:
        return opened.ledger.sources.all().get(name)
    finally:
        opened.close()
