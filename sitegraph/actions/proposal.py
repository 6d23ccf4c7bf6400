"""What is proposed for a source, and how large it is likely to be; decided from what a look found; pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log1p, sqrt
from statistics import fmean, variance

from indexes.embed.named_models import MULTILINGUAL
from ingest.urls import folder_of
from schemas.source import Rate
from sitegraph.actions.target import Target, TargetKind
from sitegraph.actions.traps import Exclude, escaped, find_traps, is_excluded

CHUNKS_PER_SECOND = 64.5
"""What a whole first run reads, encodes and writes on two cores with the default model (bench/RESULTS.md)."""

START_SECONDS = 10.0
"""A run of one page, its Prefect server included, in CPU seconds (bench/RESULTS.md, "Start of a run")."""

LEAST_WORDS = 30
"""A page with fewer, though it has scripts, is likely one that its scripts fill."""

LEAST_SAMPLE = 3
"""Pages from which on a sample says how many more there are."""

LEAST_RANGE, WIDEST_RANGE = 8, 10
"""Documents from which on a sample says how far it may be from the truth; a wider range says nothing."""

LEAST_SPREAD = 1.4
"""Variance of the logarithms of passages, at least: a sample that misses the few long pages shows less.

By the words of their pages git's site has .4, Flask's .8, PostgreSQL's .9 and Requests' 1.4. Ranges from 20
pages hold the truth of 100, 72, 94 and 98 % so, and of 79, 44, 83 and 97 % with the variance of the sample.
"""

ROOM = 2.0
"""The bound on pages, over what is known: a sitemap rarely has all that links lead to."""

USUAL_MAX_PAGES = 100_000


_NO_SITEMAP = (
    "no sitemap lists pages of this folder; counted are the pages that the sampled pages link to, and what "
    "those are likely to lead to"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedAt:
    """One document that was read for the estimate: its size in bytes, what it links to, and its chunks."""

    address: str
    size: int
    chunks: int
    words: int
    has_scripts: bool = False
    links: tuple[str, ...] = ()
    feeds: tuple[str, ...] = ()
    lang: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteLook:
    """What was found of a site: where the start page really is, what its robots.txt and sitemaps say.

    `is_private`: only allowed by name. `listed`: URLs of the sitemaps; `feeds`: pages of those that the
    start page names; `notes`: what stood in the way.
    """

    start: str
    pages: tuple[LookedAt, ...]
    crawl_delay: float | None = None
    listed: tuple[str, ...] = ()
    feeds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    allow_private: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLook:
    """What was found in a folder, repository or archive: documents by ending, and some of them read."""

    documents: dict[str, int]
    size: int | None
    read: tuple[LookedAt, ...]
    excludes: tuple[Exclude, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """How much there is: documents (None: not known), bytes, chunks, and seconds of a first run.

    `start_seconds`: what every run takes, however little there is. `chunks_between` is the range that the
    sample allows; None where it says nothing of one.
    """

    documents: int | None
    bytes: int | None = None
    chunks: int | None = None
    chunks_between: tuple[int, int] | None = None
    fetch_seconds: float | None = None
    index_seconds: float | None = None
    start_seconds: float = START_SECONDS
    at_least: bool = False

    @property
    def seconds(self) -> float | None:
        """All seconds; None where nothing is known."""
        known = [part for part in (self.fetch_seconds, self.index_seconds) if part is not None]
        return sum(known, self.start_seconds) if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A source file before it is text."""

    target: Target
    estimate: Estimate
    seed: str | None = None
    feeds: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    excludes: tuple[Exclude, ...] = ()
    max_pages: int | None = None
    rate: Rate = field(default_factory=Rate)
    crawl_delay: float | None = None
    javascript: bool = False
    lang: str | None = None
    allow_private: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def source_kind(self) -> str:
        """The `kind` of the source file."""
        if self.seed is not None:
            return "web"
        return {TargetKind.REPOSITORY: "git", TargetKind.ARCHIVE: "warc"}.get(self.target.kind, "files")

    @property
    def model(self) -> tuple[str, ...]:
        """Options of `run` by which the encoder knows the language; the default one knows English."""
        return ("--model", MULTILINGUAL) if self.lang and not self.lang.lower().startswith("en") else ()


def propose_site(target: Target, look: SiteLook) -> Proposal:
    """Return what to write for a site."""
    if target.kind is TargetKind.DOCUMENT:
        return _propose_document(target, look)
    known = {look.start, *look.listed, *(link for page in look.pages for link in page.links)}
    prefix = scope_prefix(look.start, known)
    lang = look.pages[0].lang if look.pages else None
    notes = (*look.notes, *(f"{page.address}: {note}" for page in look.pages for note in page.notes))
    excludes = find_traps(known, prefix=prefix, lang=lang)

    def inside(urls: Iterable[str]) -> list[str]:
        return [url for url in urls if url.startswith(prefix) and not is_excluded(url, excludes)]

    listed, linked = inside(look.listed), inside(known)
    rate = Rate(per_host_delay=0.0) if look.allow_private else _rate(look.crawl_delay)
    delay = max(rate.per_host_delay, look.crawl_delay or 0.0)
    number = len(listed) or _likely(linked, look.pages)
    return Proposal(
        target=target,
        seed=look.start,
        feeds=tuple(feed for feed, pages in look.feeds.items() if inside([feed]) and inside(pages)),
        include=(f"{escaped(prefix)}*",),
        excludes=excludes,
        max_pages=_max_pages(len(listed)) if listed else None,
        rate=rate,
        crawl_delay=look.crawl_delay,
        javascript=any(page.has_scripts and page.words < LEAST_WORDS for page in look.pages[:1]),
        lang=lang,
        allow_private=look.allow_private,
        notes=notes if listed else (*notes, _NO_SITEMAP),
        estimate=estimate_site(number, look.pages, delay=delay, at_least=number <= len(listed or linked)),
    )


def _propose_document(target: Target, look: SiteLook) -> Proposal:
    """A PDF of the web: that one alone."""
    rate = Rate(per_host_delay=0.0) if look.allow_private else _rate(look.crawl_delay)
    return Proposal(
        target=target,
        seed=look.start,
        include=(escaped(look.start),),
        rate=rate,
        crawl_delay=look.crawl_delay,
        lang=look.pages[0].lang,
        allow_private=look.allow_private,
        notes=look.notes,
        estimate=estimate_site(1, look.pages[:1], delay=rate.per_host_delay),
    )


def propose_files(target: Target, look: FileLook) -> Proposal:
    """Return what to write for a folder, a repository or an archive."""
    count = sum(look.documents.values())
    chunks = _scaled([page.chunks for page in look.read], count)
    size = look.size if look.size is not None else _scaled([page.size for page in look.read], count)
    return Proposal(
        target=target,
        excludes=look.excludes,
        notes=look.notes,
        lang=next((page.lang for page in look.read if page.lang), None),
        estimate=Estimate(
            documents=count,
            bytes=size,
            chunks=chunks,
            chunks_between=_between([page.chunks for page in look.read], count),
            index_seconds=_index_seconds(chunks),
        ),
    )


def in_scope(first: LookedAt, known: Collection[str]) -> tuple[str, ...]:
    """Return which of the *known* pages a source would have that begins with the page *first*."""
    prefix = scope_prefix(first.address, known)
    excludes = find_traps(known, prefix=prefix, lang=first.lang)
    return tuple(url for url in known if url.startswith(prefix) and not is_excluded(url, excludes))


def scope_prefix(start: str, known: Collection[str]) -> str:
    """Return the folder of the start page; the page itself as a folder where there are pages below it."""
    path = start.partition("?")[0]
    name = path.rpartition("/")[2]
    if name and "." not in name and any(url.startswith(f"{path}/") for url in known):
        return f"{path}/"
    return folder_of(start)


def estimate_site(
    documents: int, pages: Sequence[LookedAt], *, delay: float, at_least: bool = True
) -> Estimate:
    """Estimate a site of so many documents by some of its pages."""
    first, others = sum(page.chunks for page in pages[:1]), [page.chunks for page in pages[1:]]
    chunks = _scaled(others, documents - 1) if others else _scaled([first], documents)
    chunks = None if chunks is None else chunks + (first if others else 0)
    return Estimate(
        documents=documents,
        bytes=_scaled([page.size for page in pages], documents),
        chunks=chunks,
        chunks_between=_between(others, documents - 1, plus=first),
        fetch_seconds=documents * delay,
        index_seconds=_index_seconds(chunks),
        at_least=at_least,
    )


def _rate(crawl_delay: float | None) -> Rate:
    return Rate(per_host_delay=max(Rate().per_host_delay, min(crawl_delay or 0.0, 3600.0)))


def _max_pages(listed: int) -> int:
    """Twice what is listed, in two figures, and at least 1,000."""
    wanted = int(listed * ROOM)
    step = 10 ** max(0, len(str(wanted)) - 2)
    return min(max(1000, -(-wanted // step) * step), USUAL_MAX_PAGES) if wanted <= USUAL_MAX_PAGES else wanted


def _scaled(sample: Sequence[int], count: int) -> int | None:
    return round(sum(sample) / len(sample) * count) if sample else None


def _between(sample: Sequence[int], count: int, *, plus: int = 0) -> tuple[int, int] | None:
    """The range of a sum that a sample of *count* documents allows, and no less than what was read.

    Few pages hold most of the passages of a site, so it is that of logarithms: two standard errors of the
    mean of a lognormal distribution (Cox's method).
    """
    if len(sample) < LEAST_RANGE or len(sample) >= count:
        return None
    spread = max(LEAST_SPREAD, variance([log1p(number) for number in sample]))
    error = sqrt((1 - len(sample) / count) * (spread / len(sample) + spread**2 / (2 * len(sample) - 2)))
    expected = fmean(sample) * count
    low, high = max(sum(sample), round(expected / exp(2 * error))), round(expected * exp(2 * error))
    return (plus + low, plus + high) if 0 < high <= WIDEST_RANGE * low else None


def _likely(known: Collection[str], pages: Sequence[LookedAt]) -> int:
    """How many pages there are likely to be, if each that was not read leads to as many new ones as each
    of the last half of what was read.
    """
    half = len(pages) // 2
    before = {link for page in pages[:half] for link in page.links}
    new = {link for page in pages[half:] for link in page.links}.intersection(known) - before
    rate = len(new) / (len(pages) - half) if half >= LEAST_SAMPLE else 0.0
    return len(known) + round(rate * max(0, len(known) - len(pages)))


def _index_seconds(chunks: int | None) -> float | None:
    return None if chunks is None else chunks / CHUNKS_PER_SECOND
