"""Questions that were asked, as checks for a person to review."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import yaml

from retrieval.learning.usage import Entry, Usage
from retrieval.question.words import fold_spaces
from schemas.nodes import Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCheck:
    """A question, how often it was asked, and what of it was opened, else found first, and is still there."""

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
    said = {fold_spaces(one) for one in known}
    asked: dict[str, list[Entry]] = {}
    for entry in usage.queries:
        bound = entry.get("filters") or entry.get("version")
        if not bound and (key := fold_spaces(entry["query"])) not in said and key:
            asked.setdefault(key, []).append(entry)
    opened: dict[str, list[str]] = {}
    for click in usage.clicks:
        opened.setdefault(fold_spaces(click["query"]), []).append(click["chunk_id"])
    winners = {key: _first_found(entries) for key, entries in asked.items()}
    wanted = {id_ for key in asked for id_ in (*opened.get(key, ()), *winners[key])}
    chunks = {one.id: one for one in get(sorted(wanted))}
    found = []
    for key, entries in asked.items():
        clicks = [one for one in opened.get(key, ()) if one in chunks]
        if cites := _names(clicks or [one for one in winners[key] if one in chunks][:1], chunks):
            question = " ".join(entries[0]["query"].split())
            found.append(
                ProposedCheck(question=question, asked=len(entries), opened=len(clicks), cites=cites)
            )
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


def _first_found(entries: Sequence[Entry]) -> tuple[str, ...]:
    """What each asking found first, the newest generation and asking first: asked as of then, or some time
    ago, it found what may be gone.
    """
    newest = sorted(entries, key=_generation)[::-1]
    winners = (one["winners"] for one in newest if isinstance(one.get("winners"), list) and one["winners"])
    return tuple(str(found[0]) for found in winners)


def _generation(entry: Entry) -> int:
    number = entry.get("generation")
    return number if isinstance(number, int) else 0


def _names(ids: Sequence[str], chunks: Mapping[str, Chunk]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(check_entry(chunks[one]) for one in ids))


def check_entry(chunk: Chunk) -> str:
    """Return the entry by which a check cites a chunk: what outlives an edit of its words."""
    if chunk.file_id is not None and chunk.page_no is not None:
        return f"{chunk.url or chunk.file_path or chunk.file_id}#page={chunk.page_no}"
    place = chunk.url or chunk.file_path or chunk.doc
    return f"{place}#{chunk.fragment}" if chunk.fragment else place
