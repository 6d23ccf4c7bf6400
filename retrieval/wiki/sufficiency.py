"""Whether a page answers a question by itself, so that the graph need not be asked (reference 14)."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from indexes.ports import Reranker
from retrieval.wiki.page import PageSection, WikiPage, sections_of
from retrieval.wiki.search import PageHit, Rarity
from retrieval.wiki.trust import Trust
from retrieval.wiki.words import stem_line, stems

_LABEL = re.compile(r" ?\[S\d+\]")
LOGIT_MIN = 3.0
COVERAGE_MIN = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class PageVerdict:
    """What was found of one page; `reasons` say why it does not do, none where it does.

    `section` is the one that fits the question best, None of a page without text; `logit` what the
    cross-encoder said of it, None where there is none.
    """

    page: WikiPage
    section: PageSection | None
    coverage: float
    logit: float | None
    trust: Trust
    reasons: tuple[str, ...]

    @property
    def sufficient(self) -> bool:
        """Whether the page answers the question."""
        return not self.reasons


def judge_page(
    hit: PageHit, query: str, *, rarity: Rarity, trust: Trust, reranker: Reranker | None
) -> PageVerdict:
    """Check a page against all of the test: coverage, logit, hashes, contradictions.

    Without a cross-encoder its title or its query must also be about the question: each covers the other.
    No filed page may answer the same words in another order, which the cross-encoder does not tell apart: the
    father of the director is not the director of the father.
    """
    sections = sections_of(hit.page)
    asked = stems(query)
    if reranker is None:
        fits = [rarity.cover(asked, stems(f"{one.heading} {one.text}")) for one in sections]
    else:
        fits = list(reranker.score_pairs(query, [_pair_text(hit.page, one) for one in sections]))
    best = max(range(len(sections)), key=lambda at: (fits[at], -at), default=None)
    logit = fits[best] if reranker is not None and best is not None else None
    return PageVerdict(
        page=hit.page,
        section=None if best is None else sections[best],
        coverage=hit.coverage,
        logit=logit,
        trust=trust,
        reasons=(
            *_distrust(hit.page, trust),
            *(["it answers these words in another order"] if _turns_round(hit.page, query) else []),
            *_short_of(hit, logit, about=reranker is not None or _is_about(hit.page, asked, rarity)),
            *(() if sections else ("it has no text",)),
        ),
    )


def _pair_text(page: WikiPage, section: PageSection) -> str:
    """Return what a section says; under a heading that is the question, anything would look like an answer.

    Measured: after the capital of France, "Coal is in the cellar." has a logit of 5.6 under it, -11 alone.
    """
    text = _LABEL.sub("", section.text)
    return text if page.query and section.heading == page.title else f"{section.heading}\n{text}"


def _turns_round(page: WikiPage, query: str) -> bool:
    if not page.query:
        return False
    asked, answered = stem_line(query), stem_line(page.query)
    shared = set(asked) & set(answered)
    return [word for word in asked if word in shared] != [word for word in answered if word in shared]


def _distrust(page: WikiPage, trust: Trust) -> list[str]:
    reasons = [] if page.rests_on else ["it rests on no passage of the index"]
    if trust.stale:
        reasons.append(f"stale: {len(trust.stale)} of {len(page.rests_on)} passages that it rests on changed")
    reasons += [f"stale: {line}" for line in trust.moved]
    if trust.unread:
        reasons.append("the set that it ranges over cannot be read, which takes the graph")
    reasons += [f"contradicted: {one.line}" for one in trust.contradictions]
    return reasons


def _short_of(hit: PageHit, logit: float | None, *, about: bool) -> list[str]:
    reasons = []
    if hit.coverage < COVERAGE_MIN:
        reasons.append(f"it covers {hit.coverage:.2f} of the question's words, not {COVERAGE_MIN}")
    if logit is not None and logit < LOGIT_MIN:
        reasons.append(f"the cross-encoder gives it {logit:.1f}, not {LOGIT_MIN:.0f}")
    if not about:
        reasons.append("it is about something else, as far as words tell")
    return reasons


def _is_about(page: WikiPage, asked: Collection[str], rarity: Rarity) -> bool:
    """A page may have every word of a question and answer another: "What is a lease", "Why do leases end"."""
    titles: Mapping[str, None] = dict.fromkeys(text for text in (page.title, page.query) if text)
    return any(rarity.cover(stems(title), asked) >= COVERAGE_MIN for title in titles)
