"""A model's reading of new passages, of which only what stands in them counts."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from retrieval.iterative.facts import EntityKind, NameMention, Statement, StepFacts, find_name
from retrieval.iterative.passages import title_of
from schemas.evidence import Evidence

PREDICATE_MAX = 60
ATTRIBUTES_MAX = 4
FACTS_MAX = 60
"""Entities, and relations, of one answer that are looked at; a model may say the same thing for ever."""


def parse_facts(answer: str, passages: Collection[Evidence], *, step: int) -> StepFacts | None:
    """Read a model's answer; None where it is no JSON object with `entities` and `relations`.

    An entity whose name stands in no passage, by its words, is dropped, and so is a relation whose text is
    not a passage's own or whose ends do not stand in that passage. Both are counted.
    """
    record = _object(answer)
    entities, relations = record.get("entities"), record.get("relations")
    if not isinstance(entities, list) or not isinstance(relations, list):
        return None
    mentions = [tuple(_mentions(one, passages, step)) for one in entities[:FACTS_MAX]]
    statements = [tuple(_statements(one, passages, step)) for one in relations[:FACTS_MAX]]
    beyond = max(0, len(entities) - FACTS_MAX) + max(0, len(relations) - FACTS_MAX)
    return StepFacts(
        mentions=tuple(one for found in mentions for one in found),
        statements=tuple(one for found in statements for one in found),
        dropped=beyond + sum(not found for found in (*mentions, *statements)),
    )


def _object(answer: str) -> Mapping[str, Any]:
    start, end = answer.find("{"), answer.rfind("}")
    try:
        record = json.loads(answer[start : end + 1])
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _mentions(given: object, passages: Collection[Evidence], step: int) -> Iterator[NameMention]:
    """One for each passage that has the name."""
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        return
    name = " ".join(given["name"].split())
    for passage in passages:
        span = find_name(name, passage.text)
        if span or find_name(name, title_of(passage)):
            yield NameMention(
                step=step,
                chunk=passage.chunk_id,
                span=span,
                name=name,
                kind=_kind(given.get("kind")),
                attributes=tuple(_attributes(given.get("attributes"), passage)),
                aliases=tuple(sorted({one for one in _strings(given.get("aliases")) if one != name})),
            )


def _kind(given: object) -> EntityKind:
    return next((kind for kind in EntityKind if kind == given), EntityKind.THING)


def _strings(given: object) -> list[str]:
    listed = given if isinstance(given, list) else []
    return [one for text in listed if isinstance(text, str) and (one := " ".join(text.split()))]


def _attributes(given: object, passage: Evidence) -> Iterator[tuple[str, str]]:
    """Those whose value stands in the passage, as pairs of a key and a value."""
    for text in _strings(given)[:ATTRIBUTES_MAX]:
        key, _, value = text.rpartition(":")
        if find_name(value, f"{title_of(passage)}\n{passage.text}"):
            yield key.strip().casefold(), value.strip()


def _statements(given: object, passages: Collection[Evidence], step: int) -> Iterator[Statement]:
    """One for each passage that says so in these words."""
    keys = ("subject", "predicate", "object", "text")
    if not isinstance(given, dict) or not all(isinstance(given.get(key), str) for key in keys):
        return
    subject, predicate, object_, text = (" ".join(given[key].split()) for key in keys)
    if not 0 < len(predicate) <= PREDICATE_MAX:
        return
    for passage in passages:
        span = find_name(text, passage.text)
        whole = f"{title_of(passage)}\n{passage.text}"
        if span and find_name(subject, whole) and find_name(object_, whole):
            yield Statement(
                step=step,
                chunk=passage.chunk_id,
                span=span,
                subject=subject,
                predicate=predicate,
                object=object_,
            )
