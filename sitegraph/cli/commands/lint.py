"""`sitegraph lint`: what is wrong with the documentation itself."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from runtime.settings import read_settings
from schemas.errors import ConfigError
from sitegraph.cli.options import IndexOption, QuietOption, print_json, source_option
from sitegraph.cli.reading import tell, warn

if TYPE_CHECKING:
    from retrieval.lint.site import LintFinding


LintFormat = Literal["text", "json", "sarif"]


FailOn = Literal["note", "warning", "error", "never"]


def lint(
    source_file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SOURCE.yaml]",
            help="Lint only this source, as the lint block of the file says. Default: all sources, each as "
            "its last run read its file.",
            show_default=False,
        ),
    ] = None,
    index: IndexOption = None,
    source: Annotated[str | None, source_option("Only documents of this source.")] = None,
    rules: Annotated[
        str | None,
        typer.Option(
            metavar="RULE,...",
            help="Only these rules; with a minus before each, all but these. Default: all but unlinked. "
            "See --list-rules.",
        ),
    ] = None,
    output: Annotated[
        LintFormat,
        typer.Option("--format", help="Text for people, JSON for programs, SARIF 2.1.0 for code scanning."),
    ] = "text",
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="Exit with 1 for findings of this severity or worse.")
    ] = "warning",
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", metavar="FILE", help="Leave out the findings that this file lists."),
    ] = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option(
            "--write-baseline", metavar="FILE", help="Write all findings to this file, and exit with 0."
        ),
    ] = None,
    list_rules: Annotated[
        bool, typer.Option("--list-rules", help="Print what each rule finds, and what to do.")
    ] = False,
    quiet: QuietOption = False,
) -> None:
    """Look for dead links, orphans, copied passages and unexplained terms.

    Reads the current generation and changes nothing. Exits with 1 if a finding is of --fail-on or worse.

    Examples:

      sitegraph lint --index ./index

      sitegraph lint handbook.yaml --fail-on error --format sarif > lint.sarif

      sitegraph lint --rules dead-link,dead-fragment --format json

      sitegraph lint --rules=-duplicate-passage,-undefined-term

      sitegraph lint --write-baseline lint-baseline.json
    """
    from retrieval.lint.catalogue import choose_rules

    chosen = choose_rules(rules or "", subject="--rules")
    if list_rules:
        _print_rules(output)
        return
    if baseline is not None and write_baseline is not None:
        raise ConfigError("give one of them", subject="--baseline, --write-baseline")
    if source_file is not None and source is not None:
        raise ConfigError("a source file names its source; leave the option out", subject="--source")
    from flows.run.opening import open_described
    from retrieval.lint.site import Severity, split_by_baseline
    from runtime.progress import StageProgress
    from runtime.source_file import load_source
    from sitegraph.actions import lint_report
    from sitegraph.actions.lint import lint_index

    known = lint_report.read_baseline(baseline) if baseline is not None else frozenset()
    loaded = load_source(source_file) if source_file is not None else None
    with closing(open_described(read_settings(index))) as opened, StageProgress(quiet=quiet) as progress:
        generation = opened.current()
        found = lint_index(
            opened,
            generation,
            loaded,
            source=source,
            rules=chosen,
            progress=progress,
            warn=warn,
        )
    if write_baseline is not None:
        lint_report.write_baseline(write_baseline, found)
        tell(f"{write_baseline}: {len(found)} findings")
        return
    new, resolved = split_by_baseline(found, known)
    if resolved and rules is None and source is None:
        tell(f"{len(resolved)} findings of {baseline} are fixed; --write-baseline rewrites it")
    _print(new, output, generation=generation, known=len(found) - len(new), rules=chosen)
    if fail_on != "never" and any(one.severity.rank >= Severity(fail_on).rank for one in new):
        raise typer.Exit(1)


def _print_rules(form: LintFormat) -> None:
    from retrieval.lint.catalogue import RULES

    if form == "sarif":
        raise ConfigError("must be text or json when --list-rules is given", subject="--format")
    if form == "json":
        told = [
            {
                "id": rule.id,
                "severity": rule.severity.value,
                "default": not rule.asked,
                "summary": rule.summary,
                "help": rule.help_,
            }
            for rule in RULES.values()
        ]
        print_json({"rules": told})
        return
    for rule in RULES.values():
        asked = ", only if --rules names it" if rule.asked else ""
        print(f"{rule.id} ({rule.severity}{asked})\n  {rule.summary}\n  {rule.help_}")


def _print(
    findings: "Sequence[LintFinding]", form: LintFormat, *, generation: int, known: int, rules: Sequence[str]
) -> None:
    from sitegraph.actions.lint_report import MOST, findings_record, sarif_of, summary_of, text_of

    if form == "text":
        if findings:
            print(text_of(findings))
        print(summary_of(findings, known=known))
        return
    if form == "sarif" and len(findings) > MOST:
        warn(f"SARIF holds the worst {MOST} of {len(findings)} findings")
    if form == "json":
        print_json(findings_record(findings, generation=generation, known=known))
    else:
        print_json(sarif_of(findings, rules=rules))
