"""`sitegraph status`: what the index holds, how fresh it is, what last went wrong, who is at work."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Annotated, Any

import typer

from runtime.settings import read_settings
from schemas.advice import ADVICE, Trouble
from schemas.errors import ConfigError
from sitegraph.actions.health import group_problems
from sitegraph.cli.commands.audiences import tell_audience
from sitegraph.cli.commands.run import prepare_prefect
from sitegraph.cli.options import FormatOption, IndexOption, complete_commands, print_result
from sitegraph.cli.run_text import told_completeness, told_cost

TOLD_PROBLEMS = 5
"""So many kinds of problems a person is told; `--format json` has every one."""


def status(
    index: IndexOption = None,
    emit_events: Annotated[
        bool,
        typer.Option(
            "--emit-events", help="Tell Prefect of sources beyond their SLO, and of logins that end soon."
        ),
    ] = False,
    output: FormatOption = "text",
) -> None:
    """Show the current generation, its sources, the last runs and their problems, leases and the hold.

    A source with freshness.slo is STALE once its last good run is older than that.

    Examples:

      sitegraph status --index ./index

      sitegraph status --format json

      sitegraph status --emit-events
    """
    from flows.run.opening import open_described
    from indexes.publish.files import parse_keep
    from sitegraph.actions.status import gather_status

    settings = read_settings(index)
    parse_keep(settings.keep, last=settings.keep_generations)  # the next run would refuse it
    with closing(open_described(settings)) as opened:
        record = gather_status(opened)
        if emit_events:
            _emit_events(opened)
    print_result(output, record, _lines(record, partial(complete_commands, index=index)))


def _emit_events(opened: Any) -> None:
    """Send the events, if there is a server that may hear them."""
    from flows.run.prefect_server import ask_prefect

    if ask_prefect() is None:
        raise ConfigError(
            "needs a Prefect server; set PREFECT_API_URL to http://HOST:4200/api", subject="--emit-events"
        )
    prepare_prefect(os.environ)
    from flows.run.events import tell_state

    tell_state(opened)


def _lines(record: dict[str, Any], complete: Callable[[str], str]) -> Iterator[str]:
    yield f"{record['index']}: graph in {record['graph']}, model {record['model']}"
    yield f"generation {record['generation']}" + (f" as of {record['as_of']}" if record["as_of"] else "")
    yield from told_kept(record["kept"])
    if record["held_since"]:
        lift = complete(ADVICE[Trouble.HELD])
        yield f"publishing has been held since {record['held_since']} ({lift})"
    maintenance = record["maintenance"]
    if maintenance["due"]:
        yield complete(f"maintenance is due ({'; '.join(maintenance['due'])}): sitegraph maintain")
    if maintenance["damage"]:
        last = maintenance["last"]
        yield complete(f"the last maintenance, of {last}, found damage; look with: sitegraph verify")
    if checks := record["checks"]:
        held = "; publishing is held (see: sitegraph check --held)" if checks["held"] else ""
        counts = f"{checks['passed']} of {checks['asked']} passed, {checks['lost']} lost evidence"
        yield f"checks of {checks['source']} at {checks['as_of']}: {counts}{held}"
    for audience in record.get("audiences", ()):
        yield complete(f"audience {tell_audience(audience)}")
    yield from map(_told_lease, record["leases"])
    for name, versions in record["families"].items():
        told = ", ".join(f"{version} ({n} documents)" for version, n in versions.items())
        yield f"manual {name}: {told}"
    for name, source in record["sources"].items():
        documents = ", ".join(f"{n} {state}" for state, n in sorted(source["documents"].items()))
        chunks = sum(source["rows"].get("chunks", {}).values())
        yield f"  {name}: {documents or 'no documents'}; {chunks} chunks"
        below = (
            *told_freshness(source["freshness"]),
            *filter(None, [source["login"]["told"]]),
            *told_completeness(source["completeness"]),
            *told_coverage(source["coverage"]),
        )
        yield from (f"    {line}" for line in (*below, *_told_run(source["last_run"], complete)))


def told_kept(kept: Mapping[str, Any]) -> Iterator[str]:
    """Say how far back readers can go, and what that costs; nothing where there is one generation."""
    oldest, *others = kept["generations"] or [None]
    if others:
        yield (
            f"{1 + len(others)} generations kept, the oldest {oldest['generation']} as of {oldest['as_of']}; "
            f"earlier ones take {kept['bytes'] / 1e6:.1f} MB"
        )


def told_coverage(coverage: Mapping[str, int]) -> Iterator[str]:
    """Say what became of the words that readers see, where there is anything to say."""
    if coverage["documents"]:
        unknown = f"; of {coverage['unknown']} documents not known" if coverage["unknown"] else ""
        share = 100 * coverage["lost"] / coverage["seen"] if coverage["seen"] else 0.0
        yield (
            f"words: {coverage['seen']:,} seen, {coverage['kept']:,} in chunks, {coverage['lost']:,} lost "
            f"for no reason ({share:.2f} %), more than 1 % in {coverage['notable']} documents{unknown}"
        )
    elif coverage["unknown"]:
        yield "words: not known, since a version before parsed them"


def told_freshness(freshness: Mapping[str, Any]) -> Iterator[str]:
    """Say how fresh a source is against what is promised, if anything is."""
    if freshness["slo"] is not None:
        word = "STALE" if freshness["stale"] else "fresh"
        when = "no run has succeeded yet"
        if freshness["age"] is not None:
            when = f"last good run {_hours(freshness['age'])} ago, at {freshness['as_of']}"
        yield f"{word}: {when} (SLO {_hours(freshness['slo'])})"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min"


def _told_lease(lease: Mapping[str, Any]) -> str:
    since = f" since {lease['since']}" if lease["since"] else ""
    process = f"process {lease['pid']} on {lease['machine']}" if lease["pid"] else lease["machine"]
    if not lease["alive"]:
        return f"lease {lease['name']}: left by {process}, which has ended; the next run takes it over"
    return f"lease {lease['name']}: held by {process}{since}"


def _told_run(last: Mapping[str, Any] | None, complete: Callable[[str], str]) -> Iterator[str]:
    if last is None:
        return
    when = f"at {last['finished_at']}" if last["finished_at"] else f"since {last['started_at']}"
    yield f"last run {last['state']} {when}, {last['problems']} problem{'s' * (last['problems'] != 1)}"
    if last["reason"]:
        yield f"because {complete(last['reason'])}"
    if told := told_cost(last["cost"]):
        yield told
    kinds = group_problems(last["problem_list"])
    for reason, urls in kinds[:TOLD_PROBLEMS]:
        yield f"  {len(urls)} x {reason}: {urls[0]}{' …' if len(urls) > 1 else ''}"
    if len(kinds) > TOLD_PROBLEMS:
        yield f"  … and {len(kinds) - TOLD_PROBLEMS} other kinds (--format json)"
