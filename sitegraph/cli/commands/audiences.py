"""`sitegraph audiences`: which groups of readers have an index of their own, and how it stands."""

from contextlib import closing
from typing import Annotated, Any

import typer

from runtime.settings import read_settings
from schemas.errors import ConfigError
from sitegraph.cli.options import (
    FormatOption,
    IndexOption,
    QuietOption,
    complete_commands,
    print_result,
)


def audiences(
    index: IndexOption = None,
    add: Annotated[
        list[str] | None,
        typer.Option(
            "--add", metavar="A,B", help="Build the audience of readers with these groups. Repeatable."
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option("--drop", metavar="A,B", help="Delete the audience of these groups. Repeatable."),
    ] = None,
    sync: Annotated[
        bool, typer.Option("--sync", help="Bring all audiences up to date now, without a request.")
    ] = False,
    output: FormatOption = "text",
    quiet: QuietOption = False,
) -> None:
    """List the audiences of the index: each sees only the documents that its groups may see.

    Runs keep them up to date. Say who may see what with `access` in source files and front matter.

    Examples:

      sitegraph audiences --index ./index

      sitegraph audiences --add staff --add hr,staff

      sitegraph audiences --drop hr,staff --index ./index
    """
    from flows.run.opening import open_described, open_existing
    from schemas.access import EVERYTHING, parse_groups
    from sitegraph.actions.status import describe_audiences

    wanted = [parse_groups(one, subject="--add") for one in add or ()]
    unwanted = [parse_groups(one, subject="--drop") for one in drop or ()]
    if any(groups == {EVERYTHING} for groups in wanted):
        raise ConfigError("* is the whole index, which needs no audience", subject="--add")
    changes = bool(wanted or unwanted or sync)
    settings = read_settings(index)
    with closing(open_existing(settings) if changes else open_described(settings)) as opened:
        if changes:
            from flows.audiences.update import change_audiences

            change_audiences(opened, add=wanted, drop=unwanted, sync=sync, quiet=quiet)
        found = describe_audiences(opened)
    lines = [complete_commands(tell_audience(one), index=index) for one in found]
    nobody = ["no audiences: everybody who reads this index sees all of it"]
    print_result(output, {"audiences": found}, lines or nobody)


def tell_audience(one: dict[str, Any]) -> str:
    """Tell how an audience stands, in a line."""
    if not one["made_from"]:
        return f"{one['name']}: not built; build it with: sitegraph audiences --sync"
    behind = (
        f", behind the whole index (made from its generation {one['made_from']}); bring it up to date with: "
        "sitegraph audiences --sync"
        if one["behind"]
        else ""
    )
    return f"{one['name']}: generation {one['generation']}, {one['documents']} documents{behind}"
