"""`sitegraph doctor`: what this machine and its configuration lack, each with the line to type."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runtime.settings import read_settings
from sitegraph.cli.options import FormatOption, IndexOption, print_result

if TYPE_CHECKING:
    from sitegraph.actions.needs import CheckResult


def doctor(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[SOURCE.yaml]...", help="Source files whose needs are checked as well."),
    ] = None,
    index: IndexOption = None,
    output: FormatOption = "text",
) -> None:
    """Check Python, packages, programs, disk, rights and the servers that are configured.

    Exit code 0: all that the configuration needs is there; 2: something is missing or wrong; 3: a configured
    server does not answer. What nothing needs is listed as optional. Secrets are never printed.

    Examples:

      sitegraph doctor

      sitegraph doctor handbook.yaml --index ./index

      sitegraph doctor --format json
    """
    from runtime.source_file import load_source
    from schemas.records import to_record
    from sitegraph.actions.doctor import check_up
    from sitegraph.actions.needs import exit_code_of

    settings = read_settings(index)
    findings = check_up(settings, tuple(load_source(path) for path in sources or ()))
    code = exit_code_of(findings)
    record = {"ok": code == 0, "findings": [to_record(finding) for finding in findings]}
    print_result(output, record, _lines(findings))
    if code:
        raise typer.Exit(code)


def _lines(findings: "Iterable[CheckResult]") -> Iterator[str]:
    for finding in findings:
        yield f"{finding.health.value:<12}{finding.subject}: {finding.told}"
        if finding.remedy is not None:
            yield f"{'':<12}  {finding.remedy}"
