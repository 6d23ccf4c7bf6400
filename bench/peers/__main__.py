"""The race: sitegraph, CocoIndex, LlamaIndex and LangChain keep a table of the same documents up to date.

    python -m bench.peers WORK PYTHON [--documents 1000] [--only NAME ...] [--sentences FOLDER]

PYTHON is the interpreter of an environment with ingest-requirements.txt; WORK is an empty folder. Documents
are made of sentences of the HTML pages in FOLDER, by default of the PostgreSQL manual of the shared data
folder. Ours is given the documents; the others are given their chunks, cut by our parser in between and not
timed. All encode by the same hash and write to the same LanceDB. Each phase is a fresh process, and is looked
at before it is timed: what does not contain exactly the chunks of the documents is wrong, however fast.

After the phases that go on from each other: runs killed at shares of the cold run's CPU time and run again,
then rows deleted from the table behind everybody's back, first an ordinary run and then one that is told.
Prints Markdown and leaves results.json in WORK; ends with 1 where an aim is missed.
"""

import argparse
import ast
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from bench.embed import postgresql_manual
from bench.peers.contestant import Order
from bench.peers.documents import Documents, make_documents, write_documents
from bench.peers.hashed import read_counts
from bench.peers.phases import KILLED_AT, SHARE, Phase, make_phases
from bench.peers.racing import Contestant, run, run_and_kill
from bench.peers.release import make_release
from bench.peers.results import Result, misses, render
from bench.peers.tables import drop_rows, rows_of, size_of, version_of
from bench.peers.truth import Row, judge, read_truth
from bench.scaled_pages import write_sentences

REPOSITORY = Path(__file__).parents[2]
OURS, BESIDE = "sitegraph", "CocoIndex"
MODULES = {
    BESIDE: ("cocoindex_app", "document"),
    "LlamaIndex": ("llamaindex_pipeline", "doc_id"),
    "LangChain": ("langchain_index", "metadata.source"),
    OURS: ("sitegraph_run", "file_path"),
}
PARTS = ("kept", "killed")
KILLS, SOONER = 5, 0.95
PACKAGES = (
    "cocoindex",
    "llama-index-core",
    "llama-index-vector-stores-lancedb",
    "langchain-core",
    "langchain-classic",
    "langchain-community",
    "lancedb",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Where it takes place, and who takes part."""

    work: Path
    contestants: tuple[Contestant, ...]

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
        return Order(source=source, state=place, counts=place.with_suffix(".counts"), mend=mend)

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


def main() -> None:
    """Run all phases and print what came of them."""
    parser = argparse.ArgumentParser(description="Incremental indexing beside others.")
    parser.add_argument("work", type=Path, help="empty folder for all that is made")
    parser.add_argument("python", type=Path, help="interpreter that has the others")
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--only", nargs="*", choices=list(MODULES), default=list(MODULES))
    parser.add_argument(
        "--part", choices=PARTS, help="only the phases that go on from each other, or the kills"
    )
    parser.add_argument("--sentences", type=Path, help="folder of HTML pages to take sentences from")
    options = parser.parse_args()
    if options.work.exists() and any(options.work.iterdir()):
        parser.error(f"{options.work} is not empty")
    if not options.python.is_file():
        parser.error(f"{options.python} is not there; `make bench-peers` installs it")
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    print(f"{options.documents} documents; {versions_of(options.python)}\n", flush=True)
    write_sentences(options.sentences or postgresql_manual(work / "manual"), work)
    sentences: list[str] = json.loads((work / "sentences.json").read_text())
    race = Race(work=work, contestants=tuple(contestants(options.only, options.python)))
    results: list[Result] = []
    for result in hold(race, sentences, options.documents, options.part):
        results.append(result)
        print(json.dumps({**asdict(result), "causes": dict(result.causes)}), file=sys.stderr, flush=True)
        (work / "results.json").write_text(json.dumps([asdict(one) for one in results]))
    print(render(results))
    missed = misses(results, ours=OURS, beside=BESIDE)
    for miss in missed:
        print(f"missed: {miss}", file=sys.stderr)
    raise SystemExit(bool(missed))


def contestants(names: Sequence[str], python: Path) -> Iterator[Contestant]:
    """Yield who takes part."""
    for name in names:
        module, column = MODULES[name]
        yield Contestant(
            name=name,
            module=module,
            python=Path(sys.executable) if name == OURS else python.absolute(),
            tree=REPOSITORY,
            document=column,
            takes_chunks=name != OURS,
        )


def hold(race: Race, sentences: Sequence[str], count: int, part: str | None) -> Iterator[Result]:
    """Yield the results, phase by phase."""
    warm_up(race, sentences)
    first = make_documents(sentences, count)
    phases = make_phases(sentences, count)[: 1 if part == "killed" else None]
    cold: dict[str, float] = {}
    for result in keep(race, phases, first):
        cold.setdefault(result.contestant, result.cpu)
        yield result
    if part == "kept":
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


def versions_of(python: Path) -> str:
    """Name the versions of everybody."""
    script = "import sys; from importlib.metadata import version; print([version(p) for p in sys.argv[1:]])"
    done = subprocess.run(
        [str(python), "-c", script, *PACKAGES], stdout=subprocess.PIPE, text=True, check=True
    )
    theirs = ", ".join(map(" ".join, zip(PACKAGES, ast.literal_eval(done.stdout), strict=True)))
    return f"sitegraph {version('sitegraph')} with lancedb {version('lancedb')}; {theirs}"


if __name__ == "__main__":
    main()
