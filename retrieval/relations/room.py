"""The token budget of a bundle, shared by what a search found and what edges say."""

from collections.abc import Sequence
from dataclasses import replace

from retrieval.bundle.token_budget import CountTokens, cut_offsets, fit_budget
from schemas.evidence import Evidence


def fit_evidence(
    found: Sequence[Evidence], added: Sequence[Evidence], count_tokens: CountTokens, *, budget: int
) -> tuple[Evidence, ...]:
    """Cut both to *budget* tokens together; *added* has half of it, and what *found* leaves.

    Texts are shortened before any is dropped; labels stay as they were.
    """
    sizes = [sum(count_tokens(one.text) for one in some) for some in (found, added)]
    if sum(sizes) <= budget:
        return (*found, *added)
    kept = _fit(added, count_tokens, budget=min(sizes[1], max(budget // 2, budget - sizes[0])))
    used = sum(count_tokens(one.text) for one in kept)
    return (*_fit(found, count_tokens, budget=budget - used), *kept)


def _fit(evidence: Sequence[Evidence], count_tokens: CountTokens, *, budget: int) -> list[Evidence]:
    lengths = fit_budget([one.text for one in evidence], count_tokens, budget=budget)
    return [_cut(one, length) for one, length in zip(evidence, lengths, strict=True) if length]


def _cut(one: Evidence, length: int) -> Evidence:
    """Cut the text; what was made of edges keeps the place of the passage behind them."""
    offsets = one.offsets if one.entity else cut_offsets(one.offsets, one.text, length)
    return replace(one, text=one.text[:length], offsets=offsets)


def relabel(evidence: Sequence[Evidence]) -> tuple[tuple[Evidence, ...], dict[str, str]]:
    """Number evidence from S1 again, and return the new label by the old one."""
    numbered = tuple(replace(one, S=f"S{number}") for number, one in enumerate(evidence, start=1))
    return numbered, {old.S: new.S for old, new in zip(evidence, numbered, strict=True)}
