"""`sitegraph diff-versions`: what changed in a manual from one version to another."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from schemas.errors import ConfigError
from sitegraph.cli.options import FormatOption, IndexOption, print_result
from sitegraph.cli.reading import open_for_reading, read_reading_settings, terminal_width

if TYPE_CHECKING:
    from indexes.families import Manual


def diff_versions(
    old: Annotated[str, typer.Argument(metavar="A", help="The earlier version, such as 15.")],
    new: Annotated[str, typer.Argument(metavar="B", help="The later version, such as 16.")],
    index: IndexOption = None,
    family: Annotated[
        str | None,
        typer.Option("--family", metavar="NAME", help="The manual, if several have these versions."),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option("--path", metavar="GLOB", help="Only documents whose address, or name in it, matches."),
    ] = None,
    names_only: Annotated[
        bool, typer.Option("--names-only", help="Only which documents differ, not what in them.")
    ] = False,
    output: FormatOption = "text",
) -> None:
    """Show what changed from one version of a manual to another: documents, sections, words.

    Versions are those of sources with a family. Reads the current generation and changes nothing.

    Examples:

      sitegraph diff-versions 15 16

      sitegraph diff-versions 15 16 --path "*runtime-config*"

      sitegraph diff-versions 2.39 2.47 --family git --format json
    """
    from schemas.records import to_record
    from sitegraph.actions.compare_versions import compare_versions, difference_lines

    readers = open_for_reading(read_reading_settings(index), use_graph=False)
    manual = choose_manual(readers.families.manuals, old, new, family=family)
    found = compare_versions(manual, old, new, readers.chunks.of_documents, path=path)
    lines = difference_lines(found, width=terminal_width(), words=not names_only)
    print_result(output, to_record(found), lines)


def choose_manual(manuals: "Sequence[Manual]", old: str, new: str, *, family: str | None) -> "Manual":
    """Return the manual that has both versions.

    Raises: ConfigError: none has, or several; the message names what there is.
    """
    from retrieval.question.catalogue import tell_versions

    told = "; ".join(tell_versions(one) for one in manuals)
    if not manuals:
        raise ConfigError("this index has none; set `family` in a source file", subject="versions")
    named = [one for one in manuals if family in (None, one.name)]
    if not named:
        raise ConfigError(f"no manual has this name; known: {told}", subject=f"--family {family}")
    for version in (old, new):
        if not any(version in one.versions for one in named):
            raise ConfigError(f"no manual has it; known: {told}", subject=f"version {version!r}")
    having = [one for one in named if {old, new} <= set(one.versions)]
    if len(having) != 1:
        many = "several manuals have both; choose with --family" if having else "no manual has both"
        raise ConfigError(f"{many}; known: {told}", subject=f"versions {old!r} and {new!r}")
    return having[0]
