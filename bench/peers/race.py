"""The race itself: what is done to the documents, who is run when, and what is looked at afterwards."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from bench.peers.contestant import Order
from bench.peers.documents import Documents, make_documents, write_documents
from bench.peers.encoding import read_counts
from bench.peers.phases import KILLED_AT, SHARE, Phase, make_phases
from bench.peers.racing import Contestant, run, run_and_kill
from bench.peers.release import make_release
from bench.peers.results import Result
from bench.peers.tables import drop_rows, rows_of, size_of, version_of
from bench.peers.truth import Row, judge, read_truth

REPOSITORY = Path(__file__).parents[2]
KEPT, KILLED = "kept", "killed"
"""Parts of the race: phases that go on from each other, and runs that are killed."""
KILLS, SOONER = 5, 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Where it takes place, and who takes part."""

    work: Path
    contestants: tuple[Contestant, ...]
    model: Path | None = None

    @property
    def documents(self) -> Path:
        """What ours is given."""
        return self.work / "documents"

    @property
    def chunks(self) -> Path:
        """What the others are given, and what is right."""
        return self.work / "chunks"

    def order(self, contestant: Contestant, state: str, *, mend: bool = False) -> Order:
        """What a contestant is told."""
        source = self.chunks if contestant.takes_chunks else self.documents
        place = self.work / f"{contestant.module}-{state}"
        counts = place.with_suffix(".counts")
        return Order(source=source, state=place, counts=counts, mend=mend, model=self.model)

    def cut(self, documents: Documents, *, tree: Path = REPOSITORY) -> Counter[Row]:
        """Write the documents and their chunks by the parser in *tree*; return what is right."""
        write_documents(self.documents, documents)
        folders = [str(self.documents), str(self.chunks)]
        subprocess.run([sys.executable, "-m", "bench.peers.export_chunks", *folders], cwd=tree, check=True)
        return read_truth(self.chunks)

    def forget(self, order: Order) -> None:
        """Remove what a contestant keeps."""
        shutil.rmtree(order.state, ignore_errors=True)
        order.counts.unlink(missing_ok=True)


def hold(race: Race, sentences: Sequence[str], count: int, part: str | None) -> Iterator[Result]:
    """Yield the results, phase by phase."""
    warm_up(race, sentences)
    first = make_documents(sentences, count)
    phases = make_phases(sentences, count)[: 1 if part == KILLED else None]
    cold: dict[str, float] = {}
    for result in keep(race, phases, first):
        cold.setdefault(result.contestant, result.cpu)
        yield result
    if part == KEPT:
        return
    truth = race.cut(first)
    for contestant in race.contestants:
        for share in KILLED_AT:
            yield kill(race, contestant, truth, share=share, after=share * cold[contestant.name])


def keep(race: Race, phases: Sequence[Phase], documents: Documents) -> Iterator[Result]:
    """Yield the results of phases that go on from each other, and after them of lost rows."""
    tree, truth = REPOSITORY, Counter[Row]()
    for phase in phases:
        tree = make_release(REPOSITORY, race.work / "release") if phase.recut else tree
        documents = phase.edit(documents)
        truth = race.cut(documents, tree=tree)
        for contestant in race.contestants:
            yield measure(race, contestant.in_tree(tree), phase, truth)
    if len(phases) > 1:
        for contestant in race.contestants:
            yield from lose_rows(race, contestant.in_tree(tree), truth)


def warm_up(race: Race, sentences: Sequence[str]) -> None:
    """Let everybody run once: compiled bytecode and files in memory are nobody's advantage."""
    race.cut(make_documents(sentences, 2, seed=1))
    for contestant in race.contestants:
        order = race.order(contestant, "warm-up")
        if error := run(contestant, order).error:
            raise SystemExit(f"{contestant.name} does not run: {error}")
        race.forget(order)


def measure(race: Race, contestant: Contestant, phase: Phase, truth: Counter[Row]) -> Result:
    """Run a phase as often as it says; the result with the median of CPU time."""
    order = race.order(contestant, "kept")
    found = [look(contestant, order, phase.name, truth) for _ in range(phase.times)]
    typical = sorted(found, key=lambda result: result.cpu)[len(found) // 2]
    wrong = next((result.wrong for result in found if result.wrong), "")
    return replace(typical, wrong=wrong, cpu=median(result.cpu for result in found))


def kill(race: Race, contestant: Contestant, truth: Counter[Row], *, share: float, after: float) -> Result:
    """Kill a cold run and run again; the result is that of the second.

    A run that takes less CPU time than the one before it may end too early; then another is killed sooner.
    """
    order = race.order(contestant, f"killed-{share * 100:.0f}")
    for attempt in range(KILLS):
        race.forget(order)
        if run_and_kill(contestant, order, after=after * SOONER**attempt):
            result = look(contestant, order, f"killed at {share:.0%}, run again", truth)
            race.forget(order)
            return result
    raise SystemExit(f"{contestant.name} ended before it was killed, {KILLS} times")


def lose_rows(race: Race, contestant: Contestant, truth: Counter[Row]) -> Iterator[Result]:
    """Delete rows, run as always, then run as the documentation says for such a case."""
    order = race.order(contestant, "kept")
    gone = drop_rows(order.state, SHARE, seed=5)
    yield look(contestant, order, f"{gone / truth.total():.0%} of rows lost, ordinary run", truth)
    told = race.order(contestant, "kept", mend=True)
    yield look(contestant, told, f"{gone / truth.total():.0%} of rows lost, told so", truth)


def look(contestant: Contestant, order: Order, phase: str, truth: Counter[Row]) -> Result:
    """Run once and compare what is there with what is right."""
    embeds, before = read_counts(order.counts), version_of(order.state)
    spent = run(contestant, order)
    found = list(rows_of(contestant, order.state))
    return Result(
        contestant=contestant.name,
        phase=phase,
        wrong=f"it failed: {spent.error}" if spent.error else judge(found, truth),
        cpu=round(spent.cpu, 2),
        embeds=read_counts(order.counts) - embeds,
        rows=len(found),
        versions=new_versions(before, version_of(order.state)),
        size=size_of(order.state),
        causes={} if contestant.takes_chunks or spent.error else causes_of(json.loads(spent.out)),
    )


def new_versions(before: int, after: int) -> int:
    """How many versions came; of a table that was made anew all are."""
    return after - before if after >= before else after


def causes_of(report: dict[str, Any]) -> dict[str, float]:
    """CPU seconds by cause, as the run's report says."""
    return {cause: round(spent["cpu"], 2) for cause, spent in report["cost"]["causes"].items()}
