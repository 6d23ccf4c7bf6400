"""Questions that were asked, as checks for a person to review."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import yaml

from retrieval.learning.usage import Entry, Usage
from schemas.nodes import Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCheck:
    """A question, how often it was asked, and what was opened for it, else what it found first."""

    question: str
    asked: int
    opened: int
    cites: tuple[str, ...]


def propose_checks(
    usage: Usage, get: Callable[[Collection[str]], Collection[Chunk]], *, known: Collection[str] = ()
) -> tuple[ProposedCheck, ...]:
    """Return each question of the log once, those asked most often first, then by their words.

    Left out are questions of which nothing is there any more, that were asked with filters or of a version of
    a manual, or that are *known*. *get* returns chunks of the current generation by id.
    """
    said = {_fold(one) for one in known}
    asked: dict[str, list[Entry]] = {}
    for entry in usage.queries:
        bound = entry.get("filters") or entry.get("version")
        if not bound and (key := _fold(entry["query"])) not in said and key:
            asked.setdefault(key, []).append(entry)
    opened: dict[str, list[str]] = {}
    for click in usage.clicks:
        opened.setdefault(_fold(click["query"]), []).append(click["chunk_id"])
    wanted = {key: opened.get(key) or _first_found(entries) for key, entries in asked.items()}
    chunks = {one.id: one for one in get(sorted({one for ids in wanted.values() for one in ids}))}
    found = [
        ProposedCheck(
            question=" ".join(asked[key][0]["query"].split()),
            asked=len(asked[key]),
            opened=clicks,
            cites=cites,
        )
        for key, ids in wanted.items()
        if (cites := _names(ids, chunks))
        for clicks in [len(opened.get(key, ()))]
    ]
    return tuple(sorted(found, key=lambda one: (-one.asked, one.question)))


def render_proposals(proposals: Collection[ProposedCheck]) -> str:
    """Return a file of checks: YAML in which each question says why it is proposed."""
    head = "# Proposed from the usage log. Keep what must stay true, and add what it states.\nquestions:"
    return "\n".join([head if proposals else f"{head} []", *map(_entry, proposals)]) + "\n"


def _entry(one: ProposedCheck) -> str:
    times = "once" if one.asked == 1 else f"{one.asked} times"
    why = f"opened {one.opened} of its citations" if one.opened else "no citation was opened; found first"
    record: Mapping[str, object] = {"question": one.question, "cites": list(one.cites)}
    dumped = yaml.safe_dump([record], sort_keys=False, allow_unicode=True, width=10_000)
    return f"  # asked {times}; {why}\n" + "\n".join(f"  {line}" for line in dumped.splitlines())


def _first_found(entries: list[Entry]) -> list[str]:
    """What the last asking found first: what it found before may be gone."""
    winners: object = next((one["winners"] for one in reversed(entries) if one.get("winners")), [])
    return [str(one) for one in winners[:1]] if isinstance(winners, list) else []


def _names(ids: list[str], chunks: Mapping[str, Chunk]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for one in ids if one in chunks for name in [name_of(chunks[one])]))


def name_of(chunk: Chunk) -> str:
    """Return the entry by which a check cites a chunk: what outlives an edit of its words."""
    if chunk.file_id is not None and chunk.page_no is not None:
        return f"{chunk.url or chunk.file_path or chunk.file_id}#page={chunk.page_no}"
    place = chunk.url or chunk.file_path or chunk.doc
    return f"{place}#{chunk.fragment}" if chunk.fragment else place


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
