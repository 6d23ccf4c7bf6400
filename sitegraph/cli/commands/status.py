"""`sitegraph status`: what the index holds, how fresh it is, what last went wrong, who is at work."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from runtime.settings import read_settings
from schemas.advice import ADVICE, Trouble
from schemas.errors import ConfigError
from schemas.freshness import FreshnessState
from schemas.records import to_record
from schemas.word_coverage import CoverageCounts
from sitegraph.cli.commands.audiences import describe_audiences, tell_audience
from sitegraph.cli.commands.run import prepare_prefect
from sitegraph.cli.cost_text import told_cost
from sitegraph.cli.hints import complete_commands
from sitegraph.cli.options import FormatOption, IndexOption, OutputFormat, print_json
from sitegraph.service.sources import describe_sources, group_problems

TOLD_PROBLEMS = 5
"""So many kinds of problems a person is told; `--format json` has every one."""


def status(
    index: IndexOption = None,
    emit_events: Annotated[
        bool,
        typer.Option(
            "--emit-events", help="Send sitegraph.source.stale to Prefect for each source beyond its SLO."
        ),
    ] = False,
    output: FormatOption = OutputFormat.TEXT,
) -> None:
    """Show the current generation, its sources, the last runs and their problems, leases and the hold.

    A source with freshness.slo is STALE once its last good run is older than that.

    Examples:

      sitegraph status --index ./index

      sitegraph status --format json

      sitegraph status --emit-events
    """
    from flows.run.opening import open_described
    from indexes.publish.keeping import parse_keep

    settings = read_settings(index)
    parse_keep(settings.keep, last=settings.keep_generations)  # the next run would refuse it
    opened = open_described(settings)
    try:
        record = gather_status(opened)
        if emit_events:
            _emit_stale(opened)
    finally:
        opened.close()
    print_json(record) if output is OutputFormat.JSON else _print(record, index)


def _emit_stale(opened: Any) -> None:
    """Send the events, if there is a server that may hear them."""
    from flows.run.prefect_server import ask_prefect

    if ask_prefect() is None:
        raise ConfigError(
            "needs a Prefect server; set PREFECT_API_URL to http://HOST:4200/api", subject="--emit-events"
        )
    prepare_prefect(os.environ)
    from flows.run.emit import tell_stale

    tell_stale(opened)


def gather_status(opened: Any) -> dict[str, Any]:
    """Everything that `status` shows, as plain data."""
    from flows.run.freshness import freshness_by_source
    from indexes.publish.generation import load_generation
    from indexes.publish.held import held_since

    manifest = load_generation(opened.layout, opened.current())
    states = opened.ledger.documents.states()
    runs = opened.ledger.runs.latest_reports()
    leases = [_lease(held) for held in opened.ledger.leases.describe(now=opened.now())]
    fresh = {name: to_record(state) for name, state in freshness_by_source(opened).items()}
    described = describe_sources(
        states=states,
        rows=manifest.sources,
        runs=runs,
        under_way={lease["name"] for lease in leases if lease["alive"]},
    )
    audiences = describe_audiences(opened)
    covered = opened.ledger.coverage.counts()
    return {
        "index": str(opened.layout.root),
        "graph": opened.manifest.graph,
        "model": opened.model().name,
        "generation": manifest.generation,
        "as_of": manifest.as_of if manifest.generation else None,
        "held_since": held_since(opened.layout),
        "maintenance": _maintenance(opened),
        "checks": _checks(opened.layout),
        "kept": kept_record(opened.layout, manifest),
        "families": _families(opened, manifest),
        "writing": opened.ledger.leases.holder("index", now=opened.now()),
        "leases": leases,
        "sources": {
            name: {
                **one,
                "freshness": fresh.get(name, to_record(FreshnessState())),
                "coverage": to_record(covered.get(name, CoverageCounts())),
            }
            for name, one in described.items()
        },
        # Only where there are any: nothing else says of most indexes that they could have some.
        **({"audiences": audiences} if audiences else {}),
    }


def _maintenance(opened: Any) -> dict[str, Any]:
    from indexes.maintenance import due_of, last_report

    last = last_report(opened.layout)
    return {
        "due": list(due_of(opened.layout, opened.manifest)),
        "last": last.started_at if last else None,
        "damage": [list(one) for one in last.sample.damage] if last else [],
    }


def _checks(layout: Any) -> dict[str, Any] | None:
    """What the last run that asked questions before publishing found; the losses are `check --held`'s."""
    from indexes.check_record import load_record

    record = load_record(layout)
    if record is None:
        return None
    return {
        "source": record.source,
        "generation": record.generation,
        "as_of": record.as_of,
        **to_record(record.counts),
    }


def kept_record(layout: Any, current: Any) -> dict[str, Any]:
    """The generations that can be read, and the bytes on disk that only those before the current one need."""
    from indexes.publish.generation import published_line
    from indexes.publish.keeping import bytes_beyond

    line = published_line(layout, current.generation)
    return {
        "generations": [{"generation": one.generation, "as_of": one.as_of} for one in line],
        "bytes": bytes_beyond(current.files, (one.files for one in line)),
    }


def _families(opened: Any, manifest: Any) -> dict[str, dict[str, int]]:
    """Documents of each version of each manual; the version that is answered from comes first."""
    if not manifest.families:
        return {}
    from indexes.families.reading import Families

    families = Families(manifest.families, opened.chunks.at(manifest.generation))
    found = {}
    for manual in families.manuals:
        counts = Counter(one.version for one in manual.all_editions())
        found[manual.name] = {version: counts[version] for version in manual.versions}
    return found


def _lease(held: Any) -> dict[str, Any]:
    from flows.run.leases import is_dead, process_of

    machine, pid = process_of(held.holder)
    return {
        "name": held.name,
        "machine": machine,
        "pid": pid,
        "since": held.since,
        "expires_at": held.expires_at,
        "alive": not is_dead(held.holder),
    }


def _print(record: dict[str, Any], index: str | None) -> None:
    print(f"{record['index']}: graph in {record['graph']}, model {record['model']}")
    print(f"generation {record['generation']}" + (f" as of {record['as_of']}" if record["as_of"] else ""))
    if told := told_kept(record["kept"]):
        print(told)
    if record["held_since"]:
        lift = complete_commands(ADVICE[Trouble.HELD], index=index)
        print(f"publishing has been held since {record['held_since']} ({lift})")
    for line in _told_maintenance(record["maintenance"]):
        print(complete_commands(line, index=index))
    if record["checks"]:
        print(_told_checks(record["checks"]))
    for audience in record.get("audiences", ()):
        print(complete_commands(f"audience {tell_audience(audience)}", index=index))
    for lease in record["leases"]:
        print(_told_lease(lease))
    for name, versions in record["families"].items():
        told = ", ".join(f"{version} ({n} documents)" for version, n in versions.items())
        print(f"manual {name}: {told}")
    for name, source in record["sources"].items():
        documents = ", ".join(f"{n} {state}" for state, n in sorted(source["documents"].items()))
        chunks = sum(source["rows"].get("chunks", {}).values())
        print(f"  {name}: {documents or 'no documents'}; {chunks} chunks")
        if told := told_freshness(source["freshness"]):
            print(f"    {told}")
        if told := told_coverage(source["coverage"]):
            print(f"    {told}")
        if last := source["last_run"]:
            _print_run(last, index)


def _told_maintenance(maintenance: Mapping[str, Any]) -> Iterator[str]:
    if maintenance["due"]:
        yield f"maintenance is due ({'; '.join(maintenance['due'])}): sitegraph maintain"
    if maintenance["damage"]:
        yield f"the last maintenance, of {maintenance['last']}, found damage; look with: sitegraph verify"


def _told_checks(checks: Mapping[str, Any]) -> str:
    held = "; publishing is held (see: sitegraph check --held)" if checks["held"] else ""
    return (
        f"checks of {checks['source']} at {checks['as_of']}: {checks['passed']} of {checks['asked']} passed, "
        f"{checks['lost']} lost evidence{held}"
    )


def told_kept(kept: Mapping[str, Any]) -> str | None:
    """Say how far back readers can go, and what that costs; None where there is one generation."""
    numbers = [one["generation"] for one in kept["generations"]]
    if len(numbers) < 2:
        return None
    oldest = kept["generations"][0]
    return (
        f"{len(numbers)} generations kept, the oldest {oldest['generation']} as of {oldest['as_of']}; "
        f"earlier ones take {kept['bytes'] / 1e6:.1f} MB"
    )


def told_coverage(coverage: Mapping[str, int]) -> str | None:
    """Say what became of the words that readers see; None where there is nothing to say."""
    if not coverage["documents"]:
        return "words: not known, since a version before parsed them" if coverage["unknown"] else None
    unknown = f"; of {coverage['unknown']} documents not known" if coverage["unknown"] else ""
    share = 100 * coverage["lost"] / coverage["seen"] if coverage["seen"] else 0.0
    return (
        f"words: {coverage['seen']:,} seen, {coverage['kept']:,} in chunks, {coverage['lost']:,} lost for no "
        f"reason ({share:.2f} %), more than 1 % in {coverage['notable']} documents{unknown}"
    )


def told_freshness(freshness: Mapping[str, Any]) -> str | None:
    """Say how fresh a source is against what is promised; None where nothing is."""
    if freshness["slo"] is None:
        return None
    word = "STALE" if freshness["stale"] else "fresh"
    when = "no run has succeeded yet"
    if freshness["age"] is not None:
        when = f"last good run {_hours(freshness['age'])} ago, at {freshness['as_of']}"
    return f"{word}: {when} (SLO {_hours(freshness['slo'])})"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min"


def _told_lease(lease: Mapping[str, Any]) -> str:
    since = f" since {lease['since']}" if lease["since"] else ""
    process = f"process {lease['pid']} on {lease['machine']}" if lease["pid"] else lease["machine"]
    if not lease["alive"]:
        return f"lease {lease['name']}: left by {process}, which has ended; the next run takes it over"
    return f"lease {lease['name']}: held by {process}{since}"


def _print_run(last: Mapping[str, Any], index: str | None) -> None:
    when = f"at {last['finished_at']}" if last["finished_at"] else f"since {last['started_at']}"
    print(f"    last run {last['state']} {when}, {_problems(last['problems'])}")
    if last["reason"]:
        print(f"    because {complete_commands(last['reason'], index=index)}")
    if told := told_cost(last["cost"]):
        print(f"    {told}")
    kinds = group_problems(last["problem_list"])
    for reason, urls in kinds[:TOLD_PROBLEMS]:
        print(f"      {len(urls)} x {reason}: {urls[0]}{' …' if len(urls) > 1 else ''}")
    if len(kinds) > TOLD_PROBLEMS:
        print(f"      … and {len(kinds) - TOLD_PROBLEMS} other kinds (--format json)")


def _problems(count: int) -> str:
    return "1 problem" if count == 1 else f"{count} problems"
