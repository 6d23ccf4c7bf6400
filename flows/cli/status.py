"""`sitegraph status`: what the index holds, how fresh it is, what last went wrong."""

from typing import Any

from flows.cli.hints import complete_commands
from flows.cli.options import FormatOption, IndexOption, OutputFormat, print_json
from flows.settings import read_settings


def status(index: IndexOption = None, output: FormatOption = OutputFormat.TEXT) -> None:
    """Show generation, sources, last runs, leases and holds.

    Examples:

      sitegraph status --index ./index

      sitegraph status --format json
    """
    from flows.opening import open_described

    opened = open_described(read_settings(index))
    try:
        record = gather_status(opened)
    finally:
        opened.close()
    print_json(record) if output is OutputFormat.JSON else _print(record, index)


def gather_status(opened: Any) -> dict[str, Any]:
    """Everything that `status` shows, as plain data."""
    from flows.hold import held_since
    from indexes.publish.generation import load_generation

    manifest = load_generation(opened.layout, opened.current())
    states = opened.ledger.documents.states()
    runs = opened.ledger.runs.latest_reports()
    return {
        "index": str(opened.layout.root),
        "graph": opened.manifest.graph,
        "model": opened.model().name,
        "generation": manifest.generation,
        "as_of": manifest.as_of if manifest.generation else None,
        "held_since": held_since(opened.layout),
        "writing": opened.ledger.leases.holder("index", now=opened.now()),
        "sources": {
            name: {
                "documents": dict(states.get(name, {})),
                "rows": manifest.sources.get(name, {}),
                "last_run": _last_run(runs.get(name)),
            }
            for name in sorted({*states, *manifest.sources} - {""})
        },
    }


def _last_run(run: Any) -> dict[str, Any] | None:
    if run is None:
        return None
    report = run["report"] or {}
    return {
        "state": run["state"],
        "finished_at": run["finished_at"],
        "generation": report.get("generation"),
        "problems": len(report.get("problems", ())),
    }


def _print(record: dict[str, Any], index: str | None) -> None:
    print(f"{record['index']}: graph in {record['graph']}, model {record['model']}")
    print(f"generation {record['generation']}" + (f" as of {record['as_of']}" if record["as_of"] else ""))
    if record["held_since"]:
        lift = complete_commands("lift: sitegraph rollback --lift", index=index)
        print(f"publishing is held since {record['held_since']} ({lift})")
    if record["writing"]:
        print(f"being written by {record['writing']}")
    for name, source in record["sources"].items():
        documents = ", ".join(f"{n} {state}" for state, n in sorted(source["documents"].items()))
        chunks = sum(source["rows"].get("chunks", {}).values())
        print(f"  {name}: {documents or 'no documents'}; {chunks} chunks")
        if last := source["last_run"]:
            print(f"    last run {last['state']} at {last['finished_at']}, {_problems(last['problems'])}")


def _problems(count: int) -> str:
    return "1 problem" if count == 1 else f"{count} problems"
