"""Answers for people: the sentences, then where their labels lead."""

from retrieval.answering.answered import Answered
from retrieval.bundle.render import cite_line, label_of, show_line, tell_version, wrap_text
from schemas.evidence import ContextBundle, Evidence

INDENT = "     "
SHOWN = 300
"""Characters of a passage that is near and no answer."""


def cited_labels(answer: Answered) -> tuple[str, ...]:
    """Return the labels that an answer uses, or, where nothing was found, those of the nearest evidence."""
    return tuple(label for one in answer.sentences for label in one.labels) or answer.nearest


def render_answer(answer: Answered, bundle: ContextBundle, *, width: int) -> str:
    """Return the answer as a paragraph and a line for each label; else "not found" with what came nearest.

    Of an answer that tells how things are joined, the chains stand between the two.
    """
    cited = cited_labels(answer)
    shown = [one for one in bundle.evidence if one.S in cited]
    parts = [wrap_text(answer.text, width=width), *_chains(answer, bundle)]
    if answer.not_found and shown:
        parts += ["Nearest:", *(_passage(one, width) for one in shown)]
    elif shown:
        parts.append("\n".join(map(_line, shown)))
    return "\n\n".join(parts)


def _chains(answer: Answered, bundle: ContextBundle) -> list[str]:
    told = {one.text for one in answer.sentences}
    chains = [chain for one in bundle.relations if one.text in told for chain in one.chains]
    return ["\n".join(show_line(chain) for chain in dict.fromkeys(chains))] if chains else []


def _line(evidence: Evidence) -> str:
    version = f", {tell_version(evidence.versions)}" if evidence.versions else ""
    return show_line(f"{label_of(evidence)} {cite_line(evidence, evidence.pdf)}{version}")


def _passage(evidence: Evidence, width: int) -> str:
    return f"{_line(evidence)}\n{wrap_text(_shortened(evidence.text), width=width, indent=INDENT)}"


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN].rsplit(maxsplit=1)[0]} ..."
