"""A proposal as the commented YAML of a source file, with estimates that say how sure they are."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from sitegraph.actions.proposal import Estimate, Proposal
from sitegraph.actions.target import Target, TargetKind
from sitegraph.actions.traps import escaped

_STEPS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))


def told_estimate(estimate: Estimate) -> Iterator[str]:
    """Return lines that say how much there is, and how long the first run takes."""
    if estimate.documents is None:
        yield "How much there is is not known."
        return
    least = "at least " if estimate.at_least else "about " if estimate.fetch_seconds is not None else ""
    size = f", about {told_bytes(estimate.bytes)}" if estimate.bytes is not None else ""
    chunks = f", {_told_roughly(estimate.chunks)} passages" if estimate.chunks is not None else ""
    if estimate.chunks_between is not None:
        chunks += " ({} to {})".format(*map(_told_roughly, estimate.chunks_between))
    documents = f"{least}{estimate.documents:,} document{'s' * (estimate.documents != 1)}"
    yield f"{documents[0].upper()}{documents[1:]}{size}{chunks}."
    if estimate.seconds is not None:
        yield f"The first run takes about {told_seconds(estimate.seconds)} ({_parts(estimate)})."


def _parts(estimate: Estimate) -> str:
    parts = (
        (estimate.start_seconds, "to start"),
        (estimate.fetch_seconds, "to fetch at this pace"),
        (estimate.index_seconds, "to index on two cores"),
    )
    return ", ".join(f"{told_seconds(seconds)} {what}" for seconds, what in parts if seconds)


def _told_roughly(number: int) -> str:
    """Write a number in two figures: a sample tells no more."""
    return f"{round(number, 2 - len(str(number))):,}"


def told_bytes(size: int) -> str:
    """Write a size in MB or kB of 10^3."""
    if size >= 10**9:
        return f"{size / 10**9:.1f} GB"
    return f"{size / 10**6:.1f} MB" if size >= 10**6 else f"{max(1, round(size / 1000))} kB"


def told_seconds(seconds: float) -> str:
    """Write a time as people say it, in at most two units."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    for place, (unit, name) in enumerate(_STEPS):
        if seconds >= unit:
            whole = int(seconds // unit)
            if place + 1 < len(_STEPS) and whole < 10:
                rest, smaller = _STEPS[place + 1]
                part = int(seconds % unit // rest)
                return f"{whole} {name} {part} {smaller}" if part else f"{whole} {name}"
            return f"{whole} {name}"
    raise AssertionError(seconds)


REFERENCE = "docs/reference/source-file.md"


def source_text(proposal: Proposal, *, folder: Path | None = None, command: str = "", run: str = "") -> str:
    """Return the text of a source file.

    Args: folder: where it will lie, to name what is below it from there; command: what it was written by;
    run: the command that brings the index up to date, to schedule.
    """
    of_proposal = (_head(proposal, command), _place(proposal, folder), _scope(proposal), _rate(proposal))
    parts = [list(part) for part in (*of_proposal, _more(proposal), _schedule(run))]
    return "\n".join("\n".join(part) + "\n" for part in parts if part)


def _head(proposal: Proposal, command: str) -> Iterator[str]:
    if command:
        yield f"# Written by: {command}"
        yield f"# Change what you like; all keys are in {REFERENCE}."
    for line in told_estimate(proposal.estimate):
        yield f"# {line}"
    yield f"name: {_text(proposal.target.name)}"


def _place(proposal: Proposal, folder: Path | None) -> Iterator[str]:
    place, kind = _seen_from(proposal.target, folder), proposal.target.kind
    yield f"kind: {proposal.source_kind}"
    if proposal.seed is not None:
        news = ", and at each run the feeds that the start page names" if proposal.feeds else ""
        yield f"# Where the crawl begins. It follows links, and reads sitemaps{news}."
        yield from _list("seeds", [proposal.seed, *proposal.feeds])
    elif kind is TargetKind.REPOSITORY:
        yield f"repository: {_text(place)}"
        yield "# ref: main             # a branch, tag or commit; by default what HEAD names"
        yield "# folders: [docs]       # folders that are read; by default all"
    elif kind is TargetKind.ARCHIVE:
        yield from _list("archives", [place])
    else:
        yield from _list("roots", [str(Path(place).parent) if kind is TargetKind.DOCUMENT else place])
    if proposal.allow_private:
        yield "# Addresses of your own network that may be asked, exactly these."
        yield from _list("allow_private", proposal.allow_private)


def _seen_from(target: Target, folder: Path | None) -> str:
    """Return the place as the source file says it: relative to *folder* where it lies below."""
    if target.is_url or folder is None or not Path(target.place).is_relative_to(folder):
        return target.place
    return str(Path(target.place).relative_to(folder))


def _scope(proposal: Proposal) -> Iterator[str]:
    include, excludes = included(proposal), proposal.excludes
    if not include and not excludes and proposal.max_pages is None:
        return
    subject = "URLs" if proposal.seed is not None else "paths"
    yield f"# Globs of {subject}; exclude wins."
    yield "scope:"
    if include:
        yield from _list("include", include, indent="  ")
    if excludes:
        yield "  exclude:"
        yield from (f"    - {_text(one.glob)}  # {one.reason}" for one in excludes)
    if proposal.max_pages is not None:
        yield f"  max_pages: {proposal.max_pages}  # a bound, for sites that make addresses without end"


def included(proposal: Proposal) -> tuple[str, ...]:
    """Globs of what belongs; of a document of this machine its name."""
    if proposal.target.kind is TargetKind.DOCUMENT and proposal.seed is None:
        return (escaped(proposal.target.place.rpartition("/")[2]),)
    return proposal.include


def _rate(proposal: Proposal) -> Iterator[str]:
    if proposal.seed is None:
        return
    yield _why_rate(proposal)
    yield "rate:"
    yield f"  per_host_delay: {proposal.rate.per_host_delay:g}"
    yield f"  concurrency: {proposal.rate.concurrency}"


def _why_rate(proposal: Proposal) -> str:
    if proposal.crawl_delay:
        asked = f"{proposal.crawl_delay:g}"
        return f"# Seconds between requests; its robots.txt asks for {asked} (Crawl-delay)."
    if proposal.allow_private:
        return "# Seconds between requests; 0 is for hosts of your own alone."
    return "# Seconds between requests; its robots.txt asks for none."


def _more(proposal: Proposal) -> Iterator[str]:
    if proposal.javascript:
        yield "# The start page hardly says anything without its scripts. Needs Chromium and sitegraph[js]."
        yield "javascript: true"
    if proposal.model:
        yield f"# Its pages say that they are in {proposal.lang}, and the default model knows English only:"
        yield f"#   sitegraph run {' '.join(proposal.model)} (docs/configuration.md#the-model)"
    yield "# What every document is, to filter questions by:"
    yield "# metadata: {doc_type: manual}"


def _schedule(run: str) -> Iterator[str]:
    if not run:
        return
    yield "# To keep the index up to date, let cron look every night at what is due:"
    yield f"#   17 3 * * * {run} --due"
    yield "# or have a Prefect server do it, with `sitegraph deploy` (docs/how-to/schedules-and-alarms.md):"
    yield '# schedule: {cron: "17 3 * * *", due: true}'


def _list(key: str, values: Sequence[str], *, indent: str = "") -> Iterator[str]:
    yield f"{indent}{key}:"
    yield from (f"{indent}  - {_text(value)}" for value in values)


def _text(value: str) -> str:
    """Return a YAML scalar; a double-quoted one is JSON's string (YAML 1.2, 1.3)."""
    return json.dumps(value)
