"""What directives for robots, Content Signals and the TDM Reservation Protocol say of uses: pure, of text.

Sources: Google's robots meta tag specification (noindex, nosnippet, max-snippet, unavailable_after);
DeviantArt's noai; contentsignals.org; W3C TDM Reservation Protocol, Final Community Group Report of May 2024.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ingest.dates import utc_of
from schemas.secrets import find_secrets
from schemas.uses import Use, UseOrigin, UseTerm, UseTerms

_FOUND = (Use.SEARCH, Use.AI_INPUT)
_AI = (Use.AI_INPUT, Use.AI_TRAIN)
_REFUSED: Mapping[str, tuple[Use, ...]] = {
    "noindex": _FOUND,
    "none": _FOUND,
    "nosnippet": (Use.AI_INPUT,),
    "max-snippet:0": (Use.AI_INPUT,),
    "noai": _AI,
}
"""What is not to be found is no input; Google takes `nosnippet` for a refusal of direct input to AI, too."""

_AFTER = "unavailable_after:"
_COMMA = re.compile(r",(?!\s*\d)")
"""What parts directives; a date has commas of its own, before a number."""

_EQUALS = re.compile(r"\s*=\s*")
_LONGEST = 300
TDM = "tdm-reservation"
TDM_POLICY = "tdm-policy"
TDM_FILE = "/.well-known/tdmrep.json"


def split_directives(text: str) -> Iterator[str]:
    """Part what X-Robots-Tag or a meta element says, in lower case."""
    return (word.strip().lower() for word in _COMMA.split(text))


def terms_of_directives(words: Iterable[str], origin: UseOrigin) -> UseTerms:
    """Return what directives for robots refuse; those that say nothing of a use are left out."""
    return tuple(term for word in sorted(set(words)) for term in _of_directive(word, origin))


def _of_directive(word: str, origin: UseOrigin) -> Iterator[UseTerm]:
    uses, begins = _REFUSED.get(re.sub(r"\s*:\s*", ":", word), ()), None
    if word.startswith(_AFTER):
        begins = utc_of(word.removeprefix(_AFTER).upper())
        uses = _FOUND if begins else ()
    for use in uses:
        yield UseTerm(use=use, allowed=False, origin=origin, said=word, begins=begins)


def terms_of_signals(values: Iterable[str]) -> UseTerms:
    """Return what the lines `Content-Signal` of one group of robots.txt say: `search=yes, ai-train=no`."""
    said: dict[Use, bool] = {}
    for pair in (pair for value in values for pair in re.split(r"[,;\s]+", _EQUALS.sub("=", value.lower()))):
        key, _, answer = pair.partition("=")
        if key in {*Use} and answer in ("yes", "no"):
            use = Use(key)
            said[use] = said.get(use, True) and answer == "yes"
    return tuple(
        UseTerm(
            use=use,
            allowed=said[use],
            origin=UseOrigin.ROBOTS,
            said=f"Content-Signal: {use}={'yes' if said[use] else 'no'}",
        )
        for use in Use
        if use in said
    )


def terms_of_reservation(reservation: str | None, policy: str | None, origin: UseOrigin) -> UseTerms:
    """Return what a reservation of text and data mining says: 1 reserves it, 0 does not, all else is nothing.

    Mining is any automated analysis of text: what is trained on, and what is given to a model.
    """
    values = {value.strip() for value in (reservation or "").split(",")}
    value = max(values & {"0", "1"}, default=None)
    if value is None:
        return ()
    said = f"{TDM}: {value}"
    if policy and len(policy) <= _LONGEST and not find_secrets(policy):
        said += f", {TDM_POLICY}: {policy.strip()}"
    return tuple(UseTerm(use=use, allowed=value == "0", origin=origin, said=said) for use in _AI)


@dataclass(frozen=True, slots=True)
class TdmRule:
    """A line of `tdmrep.json`; its location is a pattern as of robots.txt."""

    location: str
    reservation: str
    policy: str | None


def read_tdm_file(body: bytes) -> tuple[TdmRule, ...]:
    """Return the rules of a `tdmrep.json`; what is none is left out."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    return tuple(
        TdmRule(row["location"], str(row.get(TDM, "")), policy if isinstance(policy, str) else None)
        for row in rows
        if isinstance(row.get("location"), str)
        for policy in (row.get(TDM_POLICY),)
    )


def terms_of_tdm_file(rules: Iterable[TdmRule], url: str) -> UseTerms:
    """Return what the longest location that matches an address says; of equals the one that reserves."""
    fitting = [rule for rule in rules if _fits(rule.location, url)]
    if not fitting:
        return ()
    best = max(fitting, key=lambda rule: (len(rule.location), rule.reservation))
    return terms_of_reservation(best.reservation, best.policy, UseOrigin.TDMREP)


def _fits(location: str, url: str) -> bool:
    """Whether a rule of robots.txt with such a path would be for *url* (RFC 9309, 2.2.2 and 2.2.3)."""
    from protego import Protego  # of what reads an index nothing needs it

    rule = Protego.parse(f"User-agent: *\nDisallow: {' '.join(location.splitlines())}")
    return not rule.can_fetch(url, "*")


_PRECEDENCE = (UseOrigin.META, UseOrigin.HEADER, UseOrigin.TDMREP)


def join_terms(*parts: UseTerms) -> UseTerms:
    """Join what is said in several places, in one order.

    A reservation of mining in a page stands in the place of that in its header, and that one in the place of
    the file's, as the TDM Reservation Protocol has it; all else adds up.
    """
    every = [term for terms in parts for term in terms]
    first = next((one for one in _PRECEDENCE if any(_reserves(t) and t.origin is one for t in every)), None)
    kept = {term for term in every if not _reserves(term) or term.origin is first}
    return tuple(sorted(kept, key=lambda term: (list(Use).index(term.use), term.origin, term.said)))


def _reserves(term: UseTerm) -> bool:
    return term.said.startswith(TDM)


def stamp_terms(found: UseTerms, held: UseTerms, *, now: str | None) -> UseTerms:
    """Set when each was first seen: as of *held*, where the same was said then, else *now*."""
    known = {unstamped(term): term.seen_at for term in held}
    return tuple(replace(term, seen_at=known.get(unstamped(term)) or utc_of(now)) for term in found)


def unstamped(term: UseTerm) -> UseTerm:
    """Return a term without its time."""
    return replace(term, seen_at=None)


def next_outside(
    held: UseTerms, told: Mapping[UseOrigin, UseTerms], directives: UseTerms, *, now: str | None
) -> UseTerms:
    """Return what is said of a document beside its bytes after a look, and what its bytes said before.

    Args: told: of each place that was read now; of the others *held* stays. directives: of X-Robots-Tag.
    """
    kept = [term for term in held if term.origin not in told and not _is_directive(term)]
    found = (*kept, *directives, *(term for terms in told.values() for term in terms))
    return stamp_terms(found, held, now=now)


def _is_directive(term: UseTerm) -> bool:
    return term.origin is UseOrigin.HEADER and not _reserves(term)


def joined_uses(stated: UseTerms, said: UseTerms, *, now: str | None) -> UseTerms:
    """Return what holds for a document: what its bytes state, and what was *said* of it beside them.

    What was said of its bytes before tells since when the same is stated; what they state anew is seen *now*.
    """
    outside = tuple(term for term in said if term.origin is not UseOrigin.META)
    return join_terms(stamp_terms(stated, said, now=now), outside)
