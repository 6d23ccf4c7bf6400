"""From what somebody names to a proposed source: by a look at it, or by a guess for a first try."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from indexes.layout import IndexLayout
from indexes.places import place_of
from ingest.urls import folder_of
from runtime.source_file import parse_source
from schemas.errors import ConfigError
from schemas.settings import Settings
from schemas.source import Rate, Source
from sitegraph.actions.probe import Say, look_at_files, look_at_site
from sitegraph.actions.proposal import Estimate, Proposal, propose_files, propose_site
from sitegraph.actions.proposal_text import source_text
from sitegraph.actions.target import Target, TargetKind, find_target, make_name
from sitegraph.actions.traps import Exclude, escaped

TRY_PAGES = 50
"""Pages of a try: under a minute at a second a page, and enough to ask something."""


def guess(
    target: Target, *, index: str, allow_private: Sequence[str] = (), max_pages: int | None = None
) -> Proposal:
    """Return the plainest source of a target; of a folder without the *index* that lies in it."""
    nothing = Estimate(documents=None)
    if not target.is_url or target.kind is TargetKind.REPOSITORY:
        return Proposal(
            target=target,
            estimate=nothing,
            excludes=_own_index(target, Path(index).resolve()),
            max_pages=max_pages,
            allow_private=tuple(allow_private),
        )
    alone = target.kind is TargetKind.DOCUMENT
    return Proposal(
        target=target,
        estimate=nothing,
        seed=target.place,
        include=(escaped(target.place) if alone else f"{escaped(folder_of(target.place))}*",),
        max_pages=max_pages,
        rate=Rate(per_host_delay=0.0) if allow_private else Rate(),
        allow_private=tuple(allow_private),
    )


def _own_index(target: Target, index: Path) -> tuple[Exclude, ...]:
    """An index holds texts, such as the words of its encoder."""
    if target.kind is not TargetKind.FOLDER or not index.is_relative_to(target.place):
        return ()
    inside = index.relative_to(target.place).as_posix()
    return () if inside == "." else (Exclude(glob=f"{escaped(inside)}/*", reason="the index itself"),)


def guessed_source(proposal: Proposal) -> Source:
    """Return the source that a proposal is the file of."""
    return parse_source(source_text(proposal), subject=proposal.target.place, folder=Path.cwd())


@contextmanager
def as_source_file(proposal: Proposal) -> Iterator[Path]:
    """Have a proposal as a source file, as long as the block lasts."""
    with TemporaryDirectory(prefix="sitegraph-") as folder:
        path = Path(folder) / f"{proposal.target.name}.yaml"
        path.write_text(source_text(proposal), encoding="utf-8")
        yield path


def propose(target: Target, settings: Settings, *, allow_private: Sequence[str], say: Say) -> Proposal:
    """Look at a target and return what to write for it.

    Raises: GuardRefused: it is unavailable, or there is nothing in it; ConfigError: it is no repository.
    """
    if target.is_url and target.kind is not TargetKind.REPOSITORY:
        return propose_site(target, look_at_site(target, settings, allow_private=allow_private, say=say))
    plain = guess(target, index=settings.index, allow_private=allow_private)
    look = look_at_files(target, guessed_source(plain), settings, say=say)
    proposal = propose_files(target, look)
    excludes = (*plain.excludes, *proposal.excludes)
    return replace(proposal, allow_private=plain.allow_private, excludes=excludes)


def check_name(target: Target, name: str | None) -> Target:
    """Return the target under the name that was asked for. Raises: ConfigError: no source may have it."""
    if name is None:
        return target
    if make_name(name) != name:
        raise ConfigError(
            "must be up to 64 letters, digits, '.', '_' and '-', and begin with a letter or digit",
            subject="--name",
        )
    return replace(target, name=name)


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
