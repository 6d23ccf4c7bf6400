"""Text that stands in several documents: copies that will be edited in one place and not in the other."""

import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from retrieval.lint.site import LintedSite, LintFinding, Severity, same_version
from retrieval.question.words import fold
from retrieval.relations.wording import join_names
from retrieval.verify.clauses import split_sentences
from schemas.nodes import Chunk, PageKind

LEAST_WORDS = 40
"""Words of a passage; shorter ones are notes and options that manuals repeat."""
RUN = 8
"""Words of a shingle (Broder, On the resemblance and containment of documents, 1997)."""
KEPT = 4
"""One shingle in so many is compared."""
CONTAINED = 0.8
"""Share of a passage's shingles that a passage of another document has."""
COMMON = 8
"""Documents from which on a shingle is boilerplate."""
QUOTED = 16
"""Words of a passage that a finding shows."""
TWINS = 0.6
"""Share of a document's passages that are in another of another format: one manual in two formats."""
WHOLE = 0.9
"""Share of a document's passages that are in another of its format, for it to be in there as a whole."""
PAGES = 4
"""Documents that are in another as a whole, for that to be all of them on one page."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Copy:
    """A passage of `chunk` that document `other` has, too, at `there`."""

    chunk: Chunk
    there: Chunk


def duplicate_passages(site: LintedSite) -> Iterator[LintFinding]:
    """Find documents that have passages in common, nearly word for word: one finding for each set of them.

    Licences and notes that many documents repeat, other formats of a manual, all on one page, and versions
    of a page are none.
    """
    copies = list(_copies(site))
    twins = _twins(site, copies)
    sharing: dict[str, set[str]] = {}
    by_pair: dict[tuple[str, str], _Copy] = {}
    for one in copies:
        docs = (one.chunk.doc, one.there.doc)
        if docs not in twins and docs[::-1] not in twins:
            sharing.setdefault(one.chunk.id, {one.chunk.doc}).add(one.there.doc)
            by_pair[one.chunk.id, one.there.doc] = one
    whole = _whole(site, {doc for docs in sharing.values() for doc in docs})
    grouped: dict[frozenset[str], list[Chunk]] = {}
    for chunk in site.passages:
        if chunk.id in sharing:
            grouped.setdefault(frozenset(sharing[chunk.id]), []).append(chunk)
    for joined, chunks in grouped.items():
        first = min(joined, key=lambda doc: (-sum(one.doc == doc for one in chunks), site.documents[doc].uri))
        mine = [one for one in chunks if one.doc == first]
        theirs = {doc: [by_pair[one.id, doc] for one in mine] for doc in joined - {first}}
        in_order = dict(sorted(theirs.items(), key=lambda item: site.documents[item[0]].uri))
        yield _finding(site, mine, in_order, whole)


def _copies(site: LintedSite) -> Iterator[_Copy]:
    prints = {one.id: kept for one in site.passages if (kept := _fingerprints(one))}
    by_id = {one.id: one for one in site.passages if one.id in prints}
    holding: dict[int, list[str]] = {}
    for id_, kept in prints.items():
        for value in kept:
            holding.setdefault(value, []).append(id_)
    common = {value for value, ids in holding.items() if len({by_id[id_].doc for id_ in ids}) >= COMMON}
    for id_, kept in prints.items():
        wanted = kept - common
        if len(wanted) < CONTAINED * len(kept):
            continue
        shared = Counter(other for value in sorted(wanted) for other in holding[value])
        yield from _best(site, by_id[id_], wanted, shared, by_id)


def _best(
    site: LintedSite,
    chunk: Chunk,
    wanted: frozenset[int],
    shared: Mapping[str, int],
    by_id: Mapping[str, Chunk],
) -> Iterator[_Copy]:
    """Yield the passage of each other document of the version that has most of *chunk*, if it has enough."""
    best: dict[str, str] = {}
    for other in sorted(shared, key=lambda id_: (-shared[id_], id_)):
        best.setdefault(by_id[other].doc, other)
    for doc, other in sorted(best.items()):
        if doc == chunk.doc or 2 * shared[other] < len(wanted):
            continue
        there = by_id[other]
        if same_version((site.documents[chunk.doc], site.documents[doc])) and _is_copy(chunk, there):
            yield _Copy(chunk, there)


def _is_copy(chunk: Chunk, there: Chunk) -> bool:
    """Whether *there* has most of *chunk*, and is no entry of another thing that is worded alike."""
    mine, theirs = _runs(chunk.text), _runs(there.text)
    shared = len(mine & theirs)
    if shared < CONTAINED * len(mine):
        return False
    names = [_names(one.heading_path[-1]) if one.heading_path else frozenset() for one in (chunk, there)]
    return shared == len(mine) or not all(names) or bool(names[0] & names[1])


def _names(entry: str) -> frozenset[str]:
    """Return the identifiers of an entry's heading: options, settings."""
    return frozenset(re.findall(r"[\w<>-]+[._/<-][\w<>._-]*\w|-\w\b|--\w[\w-]*", entry))


def _fingerprints(chunk: Chunk) -> frozenset[int]:
    """Return checksums of one in four runs of eight words; none of what is short, or no content."""
    if chunk.page_kind is not PageKind.CONTENT or chunk.stale:
        return frozenset()
    runs = _runs(chunk.text) if len(_WORD.findall(chunk.text)) >= LEAST_WORDS else frozenset()
    return frozenset(value for run in runs if (value := zlib.crc32(run.encode())) % KEPT == 0)


def _runs(text: str) -> frozenset[str]:
    words = _WORD.findall(text.casefold())
    return frozenset(" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1))


def _twins(site: LintedSite, copies: Sequence[_Copy]) -> frozenset[tuple[str, str]]:
    """Return pairs of documents of which the second is the first once more, on purpose.

    That is one manual in two formats, or a page that has all of several others: the manual on one page.
    """
    long = Counter(one.doc for one in site.passages if _fingerprints(one))
    shared = Counter((one.chunk.doc, one.there.doc) for one in copies)
    within = {pair: number / long[pair[0]] for pair, number in shared.items()}
    pages = Counter(whole for (_, whole), share in within.items() if share >= WHOLE)
    formats = {doc: site.documents[doc].kind for pair in within for doc in pair}
    return frozenset(
        pair
        for pair, share in within.items()
        if (share >= WHOLE and pages[pair[1]] >= PAGES)
        or (share >= TWINS and formats[pair[0]] != formats[pair[1]])
    )


def _finding(
    site: LintedSite, mine: Sequence[Chunk], theirs: Mapping[str, Sequence[_Copy]], whole: Mapping[str, str]
) -> LintFinding:
    words = sum(len(_WORD.findall(one.text)) for one in mine)
    copies = [one for several in theirs.values() for one in several]
    first = [several[0].there for several in theirs.values()]
    names = [site.documents[doc].name for doc in theirs]
    uris = sorted(site.documents[one.doc].uri for one in (mine[0], *first))
    passages = "1 passage" if len(mine) == 1 else f"{len(mine)} passages"
    return LintFinding(
        rule="duplicate-passage",
        severity=Severity.NOTE,
        message=f"{passages} ({words} words) also in {join_names(names)}{_drifted(copies, whole)}",
        places=(
            site.place_of(mine[0], _opening(mine[0], first[0])),
            *(site.place_of(one, _opening(one, mine[0])) for one in first),
        ),
        key=tuple(uris),
    )


def _opening(chunk: Chunk, other: Chunk) -> str:
    """Return the first words of a passage that *other* has, too, to recognise it by."""
    shared = _runs(other.text)
    words = list(_WORD.finditer(chunk.text))
    folded = [word[0].casefold() for word in words]
    starts = (at for at in range(len(words) - RUN + 1) if " ".join(folded[at : at + RUN]) in shared)
    begin = words[next(starts, 0)].start()
    told = (re.split(r"\s", chunk.text[:begin])[-1] + chunk.text[begin:]).split()
    return " ".join(told[:QUOTED]) + (" ..." if len(told) > QUOTED else "")


def _drifted(copies: Sequence[_Copy], whole: Mapping[str, str]) -> str:
    """Say whether the other documents still have every sentence of the passages, wherever they are cut."""
    parts = ((one.there.doc, fold(part)) for one in copies for part in split_sentences(one.chunk.text))
    return ", word for word" if all(part in whole[doc] for doc, part in parts) else ", with changes"


def _whole(site: LintedSite, docs: Collection[str]) -> Mapping[str, str]:
    """Return all that documents say, by document."""
    parts: dict[str, list[str]] = {}
    for chunk in site.passages:
        if chunk.doc in docs:
            parts.setdefault(chunk.doc, []).append(fold(chunk.text))
    return {doc: " ".join(texts) for doc, texts in parts.items()}
