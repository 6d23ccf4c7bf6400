"""What may be asked at all, decided before anything is searched."""

import re
from collections.abc import Callable, Iterable

from schemas.errors import QueryRefused
from schemas.evidence import Query

Policy = Callable[[Query], str | None]
"""A query to the reason why it is refused, or None."""


def deny_list(terms: Iterable[str]) -> Policy:
    """Refuse questions that say one of *terms* as whole words, whatever the case; no terms refuse nothing."""
    named = sorted({" ".join(term.split()) for term in terms} - {""})
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(term)}(?!\w)" for term in named), re.IGNORECASE)

    def decide(query: Query) -> str | None:
        match = pattern.search(" ".join(query.text.split())) if named else None
        return f"the deny list names {match[0].casefold()!r}" if match else None

    return decide


def read_policy(setting: str | None) -> Policy:
    """Return the policy of an installation: its setting lists denied terms with commas between."""
    return deny_list((setting or "").split(","))


ALLOW_ALL: Policy = deny_list(())
"""What holds where nobody denies anything."""


def check_policy(policy: Policy, query: Query) -> None:
    """Let a query pass, or not.

    Raises: QueryRefused: the policy says why.
    """
    if reason := policy(query):
        raise QueryRefused(f"is refused: {reason}", subject="query")
