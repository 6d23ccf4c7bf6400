"""A source for a try, without a look at it: the URL's folder, or what lies there, and a bound."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ingest.urls import folder_of
from runtime.source_file import parse_source
from schemas.source import Rate, Source
from sitegraph.cli.starting.proposal import Estimate, Proposal
from sitegraph.cli.starting.source_text import source_text
from sitegraph.cli.starting.target import Target, TargetKind
from sitegraph.cli.starting.traps import Exclude, escaped

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
