"""What a site says that its documents may be used for.

docs/how-to/respect-uses.md has the rules.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from schemas.errors import ConfigError


class Use(StrEnum):
    """What a document may be used for; the words are those of Content Signals.

    SEARCH: found, and shown by an address and a short excerpt. AI_INPUT: given to a language model that
    answers. AI_TRAIN: what a model is trained on. Source: contentsignals.org.
    """

    SEARCH = "search"
    AI_INPUT = "ai-input"
    AI_TRAIN = "ai-train"


class UseOrigin(StrEnum):
    """Where it is said."""

    META = "meta"
    HEADER = "header"
    TDMREP = "tdmrep.json"
    ROBOTS = "robots.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class UseTerm:
    """One use, allowed or refused, in the site's own words.

    Times are ISO 8601 in UTC. `seen_at` is when it was first read, None where that is not known yet; `begins`
    is from when on it counts, None for at once.
    """

    use: Use
    allowed: bool
    origin: UseOrigin
    said: str
    seen_at: str | None = None
    begins: str | None = None


UseTerms = tuple[UseTerm, ...]


def refused_uses(terms: Iterable[UseTerm]) -> Mapping[Use, str]:
    """Return each use that is refused, and from when on, `""` for at once; one that refuses is enough."""
    found: dict[Use, str] = {}
    for term in terms:
        if not term.allowed:
            begins = term.begins or ""
            found[term.use] = min(found.get(term.use, begins), begins)
    return found


def tell_uses(terms: Iterable[UseTerm]) -> str:
    """Return them as a line for people: `ai-input refused (header: noai, seen 2026-12-01)`."""
    return "; ".join(map(_tell, terms))


def _tell(term: UseTerm) -> str:
    begins = f" from {term.begins[:10]} on" if term.begins else ""
    seen = f", seen {term.seen_at[:10]}" if term.seen_at else ""
    verdict = "allowed" if term.allowed else "refused"
    return f"{term.use} {verdict}{begins} ({term.origin}: {term.said}{seen})"


def parse_uses(names: Collection[str] | str, *, subject: str) -> frozenset[Use]:
    """Read names of uses, in a text with commas between. Raises: ConfigError: none, or one that is no use."""
    given = names.split(",") if isinstance(names, str) else names
    found = [name for one in given if (name := one.strip())]
    known = ", ".join(Use)
    if not found:
        raise ConfigError(f"names no use; write one or more of: {known}", subject=subject)
    if wrong := sorted(set(found) - {*Use}):
        raise ConfigError(f"{wrong[0]!r} is not a use; write one or more of: {known}", subject=subject)
    return frozenset(map(Use, found))
