"""The cross-encoder's order within roles."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from retrieval.ranking.rerank import ALONE_DEPTH, DEPTH, rerank_best
from retrieval.ranking.score import Scored
from schemas.evidence import Origin, PathStep, Scores
from schemas.nodes import Chunk, DocumentKind


@dataclass
class Judge:
    """Keeps the port Reranker by a table of logits; remembers what it was shown."""

    logits: dict[str, float] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)

    def score_pairs(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        self.shown += texts
        return tuple(self.logits.get(text.splitlines()[-1], 0.0) for text in texts)


def scored(name: str, text: float, role: str = "rest", path: tuple[PathStep, ...] = ()) -> Scored:
    chunk = Chunk(
        id=f"chunk:{name}",
        kind=DocumentKind.HTML,
        source="s",
        doc=f"page:{name}",
        text=name,
        content_hash="h",
        ordinal=0,
        offsets=(0, 1),
        token_count=1,
        heading_path=("Top", name.upper()),
    )
    return Scored(chunk=chunk, scores=Scores(text=text), source=Origin.VECTOR, role=role, path=path)


def order(found: Sequence[Scored]) -> list[str]:
    return [one.chunk.text for one in sorted(found, key=lambda one: one.rank_key)]


def test_a_role_keeps_its_places_whatever_the_logits_say() -> None:
    candidates = [scored("a", 0.9, "anchor"), scored("b", 0.5, "bridge"), scored("c", 0.4, "rest")]
    judge = Judge({"c": 10.0, "b": -10.0})
    assert order(rerank_best(judge, "q", candidates, {})) == ["a", "b", "c"]


def test_within_a_role_a_clear_logit_wins_over_a_close_score() -> None:
    candidates = [scored("a", 0.50), scored("x", 0.49, "bridge"), scored("b", 0.48)]
    found = rerank_best(Judge({"b": 8.0, "a": -2.0}), "q", candidates, {})
    assert order(found) == ["b", "x", "a"]
    assert {one.chunk.text: one.logit for one in found} == {"a": -2.0, "b": 8.0, "x": 0.0}


def test_equal_worth_keeps_the_order_of_the_blend() -> None:
    assert order(rerank_best(Judge(), "q", [scored("b", 0.5), scored("a", 0.5)], {})) == ["a", "b"]


def test_only_the_best_are_read_and_the_rest_follow_in_order() -> None:
    many = [scored(f"c{n:02}", 0.9 - n / 100) for n in range(DEPTH + 5)]
    judge = Judge({f"c{DEPTH + 1:02}": 10.0})
    found = rerank_best(judge, "q", many[::-1], {})
    assert len(judge.shown) == DEPTH
    assert order(found) == [one.chunk.text for one in many]


def test_where_the_graph_says_nothing_the_logit_decides_whatever_the_role() -> None:
    candidates = [scored("a", 0.5, "anchor"), scored("b", 0.45, "bridge"), scored("c", 0.4, "rest")]
    judge = Judge({"c": 10.0, "b": 2.0})
    assert order(rerank_best(judge, "q", candidates, {}, by_role=False)) == ["c", "b", "a"]


def test_where_the_graph_says_nothing_more_are_read() -> None:
    many = [scored(f"c{n:02}", 0.9 - n / 100) for n in range(ALONE_DEPTH + 5)]
    judge = Judge()
    assert order(rerank_best(judge, "q", many, {}, by_role=False)) == [one.chunk.text for one in many]
    assert len(judge.shown) == ALONE_DEPTH


def test_a_bridge_is_read_after_the_passage_that_leads_to_it() -> None:
    first = scored("first", 0.9, "anchor")
    step = PathStep(src="page:first", kind="links_to", dst="page:next", chunk="chunk:first")
    judge = Judge()
    rerank_best(judge, "q", [first, scored("next", 0.5, "bridge", (step,))], {"chunk:first": first.chunk})
    assert judge.shown == ["Top > FIRST\nfirst", "Top > FIRST\nfirst\nTop > NEXT\nnext"]


def on_page(one: Scored, page: int) -> Scored:
    """The candidate as a passage of a PDF."""
    return replace(one, chunk=replace(one.chunk, doc="pdfdoc:d", page_no=page))


def test_of_each_page_of_a_pdf_the_best_passage_is_read_with_the_rest_of_the_page() -> None:
    candidates = [
        on_page(scored("a", 0.9, "anchor"), 1),
        on_page(scored("b", 0.8), 1),
        on_page(scored("c", 0.7), 2),
    ]
    judge = Judge({"and more": 8.0})
    found = rerank_best(judge, "q", candidates, {}, pages={"chunk:c": "and more"})
    assert judge.shown == ["Top > A\na", "Top > C\nc\nand more"]
    assert order(found) == ["c", "a", "b"], "pages keep no roles apart, and what else is on them follows"


def test_pages_of_pdfs_keep_their_places_among_other_documents() -> None:
    candidates = [
        scored("a", 0.9),
        on_page(scored("p", 0.8), 1),
        scored("b", 0.7),
        on_page(scored("q", 0.6), 2),
    ]
    found = rerank_best(Judge({"q": 9.0, "p": -9.0}), "q", candidates, {})
    assert order(found) == ["a", "q", "b", "p"]


def test_a_passage_of_a_document_that_the_question_names_is_read_with_its_id() -> None:
    named, other = scored("a", 0.5), scored("b", 0.4)
    named = replace(named, chunk=replace(named.chunk, doc_id="ADR-0042"))
    long = replace(other, chunk=replace(other.chunk, doc_id="adr-0042-tapes"))
    unnamed = replace(scored("c", 0.3), chunk=replace(scored("c", 0.3).chunk, doc_id="ADR-0050"))
    judge = Judge()

    rerank_best(judge, "Who runs the vault, says adr-0042?", [named, long, unnamed], {})

    assert judge.shown == ["ADR-0042 > Top > A\na", "adr-0042-tapes > Top > B\nb", "Top > C\nc"]
