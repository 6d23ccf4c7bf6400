"""Whether the stores contain what a generation says, and what its bytes give."""

import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexes.copies.contents import damage_in_copy
from indexes.layout import IndexLayout, remedy
from indexes.markers import read_marker
from indexes.publish.current import read_current
from indexes.publish.files import Damage
from indexes.publish.generation import open_trust
from schemas.errors import ConfigError
from schemas.records import to_record
from schemas.settings import Settings

if TYPE_CHECKING:
    from flows.repair.prove import Proof
    from flows.run.index import Index
    from runtime.progress import StageProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class Checking:
    """What to do beyond reading all: search for each chunk (*deep*), derive a *sample* again, or all."""

    deep: bool = False
    sample: int | None = None
    seed: int = 0
    rebuild: bool = False

    @property
    def derives(self) -> bool:
        """Whether documents are to be derived again from their bytes."""
        return self.rebuild or self.sample is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What was found: damage and how to repair it, and what came of a proof, if one could be made."""

    root: Path
    generation: int
    damage: tuple[Damage, ...]
    remedy: str
    proof: "Proof | None" = None

    @property
    def faults(self) -> int:
        """How many things are not as they should be."""
        return len(self.damage) + (len(self.proof.differences) if self.proof else 0)


def verify(settings: Settings, checking: Checking, *, generation: int | None, quiet: bool) -> Verified:
    """Read the whole index, or copy of one, and compare it with its manifest; derive again what is asked for.

    Raises: ConfigError: that generation is not kept, or a copy is to be proved.
    """
    if read_marker(Path(settings.index)) is None:
        return _verify_index(settings, checking, generation=generation, quiet=quiet)
    if checking.deep or checking.derives:
        raise ConfigError(
            "is a copy, which holds no bytes to derive it from; prove the index that it was copied from",
            subject=settings.index,
        )
    return _verify_copy(settings)


def _verify_copy(settings: Settings) -> Verified:
    """Compare the files of a copy; its rows were compared where they were published."""
    layout = IndexLayout(Path(settings.index))
    return Verified(
        root=layout.root,
        generation=read_current(layout.root),
        damage=damage_in_copy(layout, trust=open_trust(settings.trust)),
        remedy=remedy(layout.root),
    )


def _verify_index(settings: Settings, checking: Checking, *, generation: int | None, quiet: bool) -> Verified:
    from flows.repair.compare import search_damage
    from flows.run.damage import find_damage
    from flows.run.opening import open_existing
    from runtime.progress import StageProgress
    from sitegraph.actions.find import kept_generation

    proof = None
    with closing(open_existing(settings)) as opened:
        number = kept_generation(opened, generation)
        with StageProgress(quiet=quiet) as progress:
            damage = list(find_damage(opened, number, progress=progress))
            readable = number > 0 and not any(path.startswith("lance/") for path, _ in damage)
            if checking.deep and readable:
                damage += search_damage(opened, number, progress)
            if checking.derives and readable:
                proof = _prove(opened, number, checking, progress)
    root = opened.layout.root
    return Verified(
        root=root,
        generation=number,
        damage=tuple(damage),
        remedy=f"{remedy(root)}\n{_fetched_again(root)}",
        proof=proof,
    )


def _prove(opened: "Index", number: int, checking: Checking, progress: "StageProgress") -> "Proof":
    from flows.repair.prove import prove_all, prove_sample
    from sitegraph.actions.export_records import rows

    if checking.sample is not None:
        return prove_sample(opened, number, count=checking.sample, seed=checking.seed, progress=progress)
    stable = partial(rows, source=None, stable=True, vectors=False)
    return prove_all(
        opened,
        number,
        rows_of=lambda index, table, generation: stable(index, table, generation=generation),
        progress=progress,
    )


def _fetched_again(index: Path) -> str:
    """Say what brings back bytes that nothing else holds."""
    where = shlex.quote(str(index))
    return f"what it cannot repair is fetched again with: sitegraph run SOURCE.yaml --index {where} --repair"


def proof_record(proof: "Proof") -> dict[str, Any]:
    """Return a proof as a JSON object."""
    undecided = [{"url": url, "reason": reason} for url, reason in proof.undecided]
    return {**to_record(proof), "undecided": undecided}


def proof_lines(proof: "Proof") -> Iterator[str]:
    """Say how many documents were derived, how they were chosen, and why others could not be."""
    chosen = "" if proof.sample is None else f" (sample of {proof.documents} by seed {proof.seed})"
    yield f"derived again from bytes: {proof.derived} of {proof.documents} documents{chosen}"
    reasons = Counter(reason for _, reason in proof.undecided)
    yield from (f"  {number} not: {reason}" for reason, number in reasons.most_common())
    tables = Counter(one.table for one in proof.differences)
    yield from (f"  {number} of {table} differ" for table, number in sorted(tables.items()))
