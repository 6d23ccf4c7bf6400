"""What came of a proof, for people and for programs."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from schemas.records import to_record

if TYPE_CHECKING:
    from flows.proof.prove import Proof


def proof_record(proof: "Proof") -> dict[str, Any]:
    """Return a proof as a JSON object."""
    record = to_record(proof)
    return {
        **record,
        "undecided": [{"url": url, "reason": reason} for url, reason in proof.undecided],
    }


def proof_lines(proof: "Proof") -> list[str]:
    """Say how many documents were derived, how they were chosen, and why others could not be."""
    chosen = "" if proof.sample is None else f" (sample of {proof.documents} by seed {proof.seed})"
    lines = [f"derived again from bytes: {proof.derived} of {proof.documents} documents{chosen}"]
    reasons = Counter(reason for _, reason in proof.undecided)
    lines += [f"  {number} not: {reason}" for reason, number in reasons.most_common()]
    tables = Counter(one.table for one in proof.differences)
    lines += [f"  {number} of {table} differ" for table, number in sorted(tables.items())]
    return lines
