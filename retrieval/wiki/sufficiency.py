"""Whether a page, or sentences, answer a question by themselves, so that the graph need not be asked."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from indexes.ports import GraphReader, Reranker
from retrieval.bundle.annotations import node_names
from retrieval.question.words import Rarity, fold, full_stems, stem_line
from retrieval.relations.asked import EdgeDirection, read_relations_asked
from retrieval.relations.find import name_places
from retrieval.verify.quantities import says_measure
from retrieval.wiki.page import PageHit, PageSection, WikiPage, sections_of
from retrieval.wiki.trust import Trust, kinds_asked
from schemas.edges import EdgeKind
from schemas.nodes import Node

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
    asked = full_stems(query)
    if reranker is None:
        fits = [rarity.cover(asked, full_stems(f"{one.heading} {one.text}")) for one in sections]
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
    return any(rarity.cover(full_stems(title), asked) >= COVERAGE_MIN for title in titles)


NO_JUDGE = "nothing tells whether it answers: that takes the cross-encoder"

_LISTS = re.compile(r"\s*(?:what|which|who|list|name|show|how many)\b", re.IGNORECASE)


def why_weak(question: str, sentences: Sequence[str], *, reranker: Reranker | None) -> str:
    """Say on a line why *sentences* are no answer to keep; empty where they are one.

    The cross-encoder gives them, read together, the logit that a page needs to answer, and where the question
    asks how long, how many or how often, one of them says such a measure. A sentence that was copied is true
    and may answer another question; without a cross-encoder nothing tells.
    """
    if reranker is None:
        return NO_JUDGE
    (logit,) = reranker.score_pairs(question, [" ".join(sentences)])
    if logit < LOGIT_MIN:
        return f"as an answer the cross-encoder gives it {logit:.1f}, not {LOGIT_MIN:.0f}"
    if not says_measure(question, sentences):
        return "it says no measure of what is asked"
    return ""


def leaves_out(question: str, sentences: Sequence[str], nodes: Collection[str], graph: GraphReader) -> str:
    """Say what a list of what depends on, or supersedes, one of *nodes* leaves out; empty where nothing.

    All that such edges come from, or all that they lead to, as *question* asks, must be named by id or title.
    Where it does not say which way, either is enough.

    Raises: StoreUnavailable: the graph does not answer.
    """
    kinds = kinds_asked(question) & {EdgeKind.DEPENDS_ON, EdgeKind.SUPERSEDES}
    if not kinds or not nodes or not _LISTS.match(question):
        return ""
    said = f" {fold(' '.join(sentences))} "
    way = _way_asked(question, graph.nodes(sorted(nodes)))
    into = graph.edges_to(sorted(nodes), kinds=kinds) if way is not EdgeDirection.OUT else ()
    out = graph.edges_from(sorted(nodes), kinds=kinds) if way is not EdgeDirection.INTO else ()
    missing: list[str] = []
    for ends in ({edge.src for edge in into}, {edge.dst for edge in out}):
        beyond = sorted(ends.difference(nodes))
        unnamed = [one for one in graph.nodes(beyond) if not _is_named(one, said)] if beyond else []
        if beyond and not unnamed:
            return ""
        missing += [(node_names(one) or (one.id,))[0] for one in unnamed]
    return f"it leaves out {', '.join(missing[:3])}" if missing else ""


def _way_asked(question: str, nodes: Collection[Node]) -> EdgeDirection:
    """Return which way from the named things the question goes: "What depends on A?" goes into A."""
    spans = [span for node in nodes for name in node_names(node) for span in name_places(name, question)]
    asked = read_relations_asked(question, [spans]) if spans else None
    return asked.steps[0].way if asked and len(asked.steps) == 1 else EdgeDirection.BOTH


def _is_named(node: Node, said: str) -> bool:
    return any(f" {fold(name)} " in said for name in node_names(node) if fold(name))
