"""Whose turn it is to ask a host, where several runs do."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTurn:
    """What the ledger answers who wants to ask a host.

    `wait`: seconds after which to ask again; 0: it is their turn, for `seconds`. `delay`: the longest delay
    between requests, in seconds, that any other run promised the host; `others`: how many such runs.
    """

    wait: float
    seconds: float = 0.0
    delay: float = 0.0
    others: int = 0
