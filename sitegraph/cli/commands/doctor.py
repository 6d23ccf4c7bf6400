"""`sitegraph doctor`: what this machine and its configuration lack, each with the line to type."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runtime.settings import read_settings
from sitegraph.cli.options import FormatOption, IndexOption, OutputFormat, print_json

if TYPE_CHECKING:
    from schemas.source import Source
    from sitegraph.cli.health.findings import CheckResult


def doctor(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[SOURCE.yaml]...", help="Source files whose needs are checked as well."),
    ] = None,
    index: IndexOption = None,
    output: FormatOption = OutputFormat.TEXT,
) -> None:
    """Check Python, packages, programs, disk, rights and the servers that are configured.

    Exit code 0: all that the configuration needs is there; 2: something is missing or wrong; 3: a configured
    server does not answer. What nothing needs is listed as optional. Secrets are never printed.

    Examples:

      sitegraph doctor

      sitegraph doctor handbook.yaml --index ./index

      sitegraph doctor --format json
    """
    from schemas.records import to_record
    from sitegraph.cli.health.checkup import check_up
    from sitegraph.cli.health.findings import exit_code_of

    settings = read_settings(index)
    findings = check_up(settings, _load(sources or ()))
    code = exit_code_of(findings)
    if output is OutputFormat.JSON:
        print_json({"ok": code == 0, "findings": [to_record(finding) for finding in findings]})
    else:
        _print(findings)
    if code:
        raise typer.Exit(code)


def _load(paths: Iterable[Path]) -> "tuple[Source, ...]":
    if not paths:
        return ()
    from runtime.source_file import load_source

    return tuple(load_source(path) for path in paths)


def _print(findings: "Iterable[CheckResult]") -> None:
    for finding in findings:
        print(f"{finding.health.value:<12}{finding.subject}: {finding.told}")
        if finding.remedy is not None:
            print(f"{'':<12}  {finding.remedy}")
