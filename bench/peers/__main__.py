"""The race: sitegraph, CocoIndex, LlamaIndex and LangChain keep a table of the same documents up to date.

    python -m bench.peers WORK PYTHON [--documents 1000] [--only NAME ...] [--part PART] [--model FOLDER]

PYTHON is the interpreter of an environment with ingest-requirements.txt; WORK is an empty folder. Documents
are made of sentences of the HTML pages in FOLDER, by default of the PostgreSQL manual of the shared data
folder. Ours is given the documents; the others are given their chunks, cut by our parser in between and not
timed. All encode by the same hash, or with the same model, and write to the same LanceDB. Each phase is a
fresh process, and is looked at before it is timed: what does not contain exactly the chunks of the documents
is wrong, however fast.

After the phases that go on from each other: runs killed at shares of the cold run's CPU time and run again,
then rows deleted from the table behind everybody's back, first an ordinary run and then one that is told.
Prints Markdown and leaves results.json in WORK; ends with 1 where an aim is missed.
"""

import argparse
import ast
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from bench.embed import postgresql_manual
from bench.peers.race import KEPT, KILLED, REPOSITORY, Race, hold
from bench.peers.racing import Contestant
from bench.peers.results import Result, misses, render
from bench.scaled_pages import write_sentences

OURS, BESIDE = "sitegraph", "CocoIndex"
MODULES = {
    BESIDE: ("cocoindex_app", "document"),
    "LlamaIndex": ("llamaindex_pipeline", "doc_id"),
    "LangChain": ("langchain_index", "metadata.source"),
    OURS: ("sitegraph_run", "file_path"),
}
PACKAGES = (
    "cocoindex",
    "llama-index-core",
    "llama-index-vector-stores-lancedb",
    "langchain-core",
    "langchain-classic",
    "langchain-community",
    "lancedb",
)


def main() -> None:
    """Run all phases and print what came of them."""
    parser = argparse.ArgumentParser(description="Incremental indexing beside others.")
    parser.add_argument("work", type=Path, help="empty folder for all that is made")
    parser.add_argument("python", type=Path, help="interpreter that has the others")
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--only", nargs="*", choices=list(MODULES), default=list(MODULES))
    parser.add_argument(
        "--part", choices=(KEPT, KILLED), help="only the phases that go on from each other, or the kills"
    )
    parser.add_argument(
        "--model", type=Path, help="encode with this, the folder `encoder` of an index (default: by hash)"
    )
    parser.add_argument("--sentences", type=Path, help="folder of HTML pages to take sentences from")
    options = parser.parse_args()
    if options.work.exists() and any(options.work.iterdir()):
        parser.error(f"{options.work} is not empty")
    if not options.python.is_file():
        parser.error(f"{options.python} is not there; `make bench-peers` installs it")
    if options.model and not (options.model / "encoder.onnx").is_file():
        parser.error(f"{options.model} has no encoder.onnx; give the folder `encoder` of an index")
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    print(f"{options.documents} documents; {versions_of(options.python)}\n", flush=True)
    write_sentences(options.sentences or postgresql_manual(work / "manual"), work)
    sentences: list[str] = json.loads((work / "sentences.json").read_text())
    model = options.model.resolve() if options.model else None
    race = Race(work=work, contestants=tuple(contestants(options.only, options.python)), model=model)
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
