"""Estimates in words that say how sure they are."""

from collections.abc import Iterator

from sitegraph.cli.starting.proposal import Estimate

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
    documents = f"{least}{told_number(estimate.documents)} document{'s' * (estimate.documents != 1)}"
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


def told_number(number: int) -> str:
    """Write a number with commas."""
    return f"{number:,}"


def _told_roughly(number: int) -> str:
    """Write a number in two figures: a sample tells no more."""
    return told_number(round(number, 2 - len(str(number))))


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
