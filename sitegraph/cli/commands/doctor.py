"""`sitegraph doctor`: what this machine and its configuration lack, each with the line to type."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runtime.settings import read_settings
from schemas.settings import Settings
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
    server does not answer. What nothing needs is listed as optional, and the settings that differ from their
    defaults are printed, without secrets.

    Examples:

      sitegraph doctor

      sitegraph doctor handbook.yaml --index ./index

      sitegraph doctor --format json
    """
    from runtime.source_file import load_source
    from schemas.records import to_record
    from sitegraph.actions.doctor import check_up, effective_settings
    from sitegraph.actions.needs import exit_code_of

    settings = read_settings(index)
    findings = check_up(settings, tuple(load_source(path) for path in sources or ()))
    code = exit_code_of(findings)
    effective = effective_settings(settings)
    changed = sorted(effective.items() - effective_settings(Settings()).items())
    record = {"ok": code == 0, "findings": [to_record(one) for one in findings], "settings": effective}
    print_result(output, record, _lines(findings, changed))
    if code:
        raise typer.Exit(code)


def _lines(findings: "Iterable[CheckResult]", changed: Iterable[tuple[str, object]]) -> Iterator[str]:
    for finding in findings:
        yield f"{finding.health.value:<12}{finding.subject}: {finding.told}"
        if finding.remedy is not None:
            yield f"{'':<12}  {finding.remedy}"
    for name, value in changed:
        yield f"{'setting':<12}{name}: {value}"
