"""`sitegraph deploy`: have Prefect run sources on the schedules of their files, and raise alarms."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from indexes.places import index_place
from schemas.errors import ConfigError
from schemas.settings import program_version
from sitegraph.cli.options import FormatOption, print_result

SHORTEST = 10.0
"""Seconds of an alarm that waits."""


def deploy(
    sources: Annotated[
        list[Path], typer.Argument(metavar="SOURCES...", help="Source files, or folders of source files.")
    ],
    pool: Annotated[
        str, typer.Option(metavar="POOL", help="Work pool of sources whose file names none.")
    ] = "sitegraph",
    job_variable: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Setting of the work pool for each run, such as memory_limit=4Gi or "
            """'env={"SITEGRAPH_WORKERS": "2"}'; VALUE is JSON, else text. May be given again. """
            "A source file's deployment.job_variables take precedence.",
        ),
    ] = None,
    index: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Index folder of the runs (default: as the worker's SITEGRAPH_INDEX says)."
        ),
    ] = None,
    home: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            envvar="SITEGRAPH_HOME",
            help="Folder in which runs work, on the worker's machine; paths of source files in it are kept "
            "relative (default: this folder).",
        ),
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Pause every deployment of --home that is not named.")
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Replace deployments of that name that run another file, or for another index."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")
    ] = False,
    alarms: Annotated[bool, typer.Option(help="Make alarms as well.")] = True,
    notify: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE/NAME|URL",
            envvar="SITEGRAPH_NOTIFY",
            help="Where alarms go: a block of Prefect's, such as slack-webhook/ops, or the URL of a webhook; "
            "none: nobody. Default: as it is on the server.",
        ),
    ] = None,
    late_after: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Alarm when a run has waited this long for a worker (initially 15m)."
        ),
    ] = None,
    lost_after: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Mark a run as crashed when it has sent no heartbeat for this long (initially 10m).",
        ),
    ] = None,
    held_after: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Alarm when nothing could be published for this long (initially 6h)."
        ),
    ] = None,
    maintain: Annotated[
        str | None,
        typer.Option(
            metavar="CRON",
            envvar="SITEGRAPH_MAINTAIN",
            help="Maintain the index at these times, in UTC, such as '0 4 * * 0'; none pauses it.",
        ),
    ] = None,
    output: FormatOption = "text",
) -> None:
    """Make one Prefect deployment for each source file, and the alarms that watch them.

    A second call changes nothing. A deployment whose file is gone from a folder named here is paused.
    One of the same name that runs another file, or for another index, is an error without --replace.
    Needs a running Prefect server (PREFECT_API_URL) and a work pool.

    Examples:

      prefect work-pool create sitegraph --type process

      sitegraph deploy sources/ --dry-run

      sitegraph deploy sources/ --index ./index --notify slack-webhook/ops

      sitegraph deploy sources/handbook.yaml --pool nightly --held-after 12h

      sitegraph deploy sources/ --maintain "0 4 * * 0"

      sitegraph deploy sources/ --pool kubernetes --job-variable memory_limit=4Gi

      sitegraph deploy /srv/new-folder/sources --home /srv/new-folder --replace
    """
    from sitegraph.cli.commands.run import prepare_prefect

    given = {"late_after": late_after, "lost_after": lost_after, "held_after": held_after}
    times = {name: _seconds(name, text) for name, text in given.items() if text is not None}
    prepare_prefect(os.environ)
    from flows.deploy.deploy import DeployWish
    from flows.deploy.deploy import deploy as make
    from flows.deploy.deployments import RunPlace

    place = RunPlace(
        folder=(home or Path()).resolve(),
        pool=pool,
        index=str(index_place(index)) if index else None,
        job_variables=_variables(job_variable or ()),
        version=program_version(),
    )
    wish = DeployWish(
        named=sources,
        place=place,
        prune=prune,
        replace=replace,
        dry_run=dry_run,
        with_alarms=alarms,
        notify=notify,
        maintain=maintain,
        times=times,
    )
    record = make(wish)
    print_result(output, record, _lines(record))
    for note in record["notes"] if output == "text" else ():
        print(f"sitegraph: {note}", file=sys.stderr)


def _variables(given: Iterable[str]) -> dict[str, Any]:
    """Read `NAME=VALUE`, as `prefect deploy --job-variable` does."""
    variables: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            told = f"{text!r} is not NAME=VALUE, such as memory_limit=4Gi"
            raise ConfigError(told, subject="--job-variable")
        try:
            variables[name] = json.loads(value)
        except ValueError:
            variables[name] = value
    return variables


def _seconds(name: str, text: str) -> float:
    from runtime.schedules import seconds_of

    option = f"--{name.replace('_', '-')}"
    try:
        seconds = seconds_of(text)
    except ValueError as error:
        raise ConfigError(str(error), subject=option) from error
    if seconds < SHORTEST:
        raise ConfigError(
            f"must be at least {SHORTEST:g}s, the shortest time that Prefect waits", subject=option
        )
    return seconds


def _lines(record: dict[str, Any]) -> Iterator[str]:
    for one in record["deployments"]:
        when = "; ".join(one["schedules"]) or "no schedule"
        yield f"{_verb(record, one)} {one['name']}  {when}, pool {one['pool']}"
        for key, (before, after) in one["changes"].items():
            yield f"{'':<17} {key}: {_text(before)} > {_text(after)}"
    for one in record["alarms"]:
        within = f"  after {one['within']}" if one["within"] else ""
        yield f"{_verb(record, one)} alarm {one['name']}{within}"
    if record["dry_run"]:
        yield "nothing was done (--dry-run)"


def _verb(record: dict[str, Any], one: dict[str, Any]) -> str:
    action = one["action"]
    done = f"would {action}" if record["dry_run"] else f"{action}d"
    return f"{action if action == 'unchanged' else done:<17}"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True) if value else "none"
    return ", ".join(value) or "none" if isinstance(value, list) else str(value)
