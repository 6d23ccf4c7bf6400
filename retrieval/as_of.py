"""Which kept generation a reader asks for: by its number, or by the time at which readers saw it."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from indexes.layout import IndexLayout
from indexes.publish.current import read_current
from indexes.publish.generation import published_line
from retrieval.ask_modes import AskMode
from retrieval.question.dates import OPEN_END, end_of
from schemas.errors import ConfigError

SUBJECT = "--as-of"


def find_generation(index: Path, wanted: str | int) -> int:
    """Return the number of the generation that *wanted* means, of those that an index keeps.

    Raises: ConfigError: none is meant, or kept; the message names those that are.
    """
    layout = IndexLayout(index)
    current = read_current(layout.root)
    kept = {one.generation: one.as_of for one in published_line(layout, current)}
    return choose_generation(str(wanted), kept)


def choose_generation(wanted: str, kept: Mapping[int, str]) -> int:
    """Return the generation of that number, or the newest made by then; *kept* are times by number.

    A month or a day counts to its end, and a time without a zone is in UTC. Digits alone are a number.

    Raises: ConfigError: no number and no date, or nothing of then is kept.
    """
    if wanted.isdecimal():
        if int(wanted) not in kept:
            raise ConfigError(f"generation {wanted} is not kept; {_told(kept)}", subject=SUBJECT)
        return int(wanted)
    try:
        end = end_of(wanted)
    except (ValueError, OverflowError):
        raise ConfigError(
            f"must be the number of a generation, a month, a day or a time such as 2026-03-01T12:00, "
            f"not {wanted!r}",
            subject=SUBJECT,
        ) from None
    found = [number for number, as_of in kept.items() if end == OPEN_END or as_of < end]
    if not found:
        raise ConfigError(f"nothing of {wanted} is kept; {_told(kept)}", subject=SUBJECT)
    return max(found)


def check_mode(mode: AskMode, *, as_of: str | int | None) -> None:
    """Refuse to make an answer as of then a page of the wiki, which says what is so now.

    Raises: ConfigError: that is asked for.
    """
    if as_of is not None and mode is AskMode.WIKI:
        raise ConfigError(
            "cannot be used with mode wiki: its pages rest on the current index", subject=SUBJECT
        )


def _told(kept: Mapping[int, str]) -> str:
    numbers: Iterable[int] = sorted(kept)
    told = ", ".join(f"{number} of {kept[number]}" for number in numbers) or "none"
    return f"kept: {told} (SITEGRAPH_KEEP_GENERATIONS and SITEGRAPH_KEEP keep more)"
