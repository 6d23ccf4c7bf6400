"""`sitegraph lint`: what is wrong with the documentation itself."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from runtime.settings import read_settings
from schemas.errors import ConfigError
from schemas.json_text import to_json
from sitegraph.cli.completing import complete_source
from sitegraph.cli.options import IndexOption, QuietOption, print_json
from sitegraph.cli.reading import tell, warn

if TYPE_CHECKING:
    from flows.run.index import Index
    from retrieval.lint.catalogue import LintRule
    from retrieval.lint.findings import LintFinding
    from schemas.source import Source


class LintFormat(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


class FailOn(StrEnum):
    """From which severity on a finding is exit code 1."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"
    NEVER = "never"


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
    source: Annotated[
        str | None, typer.Option(help="Only documents of this source.", autocompletion=complete_source)
    ] = None,
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
    ] = LintFormat.TEXT,
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="Exit with 1 for findings of this severity or worse.")
    ] = FailOn.WARNING,
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
    """Look for contradictions, dead links, orphans, copied passages and unexplained terms.

    Reads the current generation and changes nothing. Exits with 1 if a finding is of --fail-on or worse.

    Examples:

      sitegraph lint --index ./index

      sitegraph lint handbook.yaml --fail-on error --format sarif > lint.sarif

      sitegraph lint --rules dead-link,dead-fragment --format json

      sitegraph lint --rules=-duplicate-passage,-undefined-term

      sitegraph lint --write-baseline lint-baseline.json
    """
    chosen = _choose_rules(rules)
    if list_rules:
        _print_rules(output)
        return
    if baseline is not None and write_baseline is not None:
        raise ConfigError("give one of them", subject="--baseline, --write-baseline")
    from flows.run.opening import open_described
    from retrieval.lint.suppress import split_by_baseline
    from sitegraph.cli.linting.baseline import read_baseline

    known = read_baseline(baseline) if baseline is not None else frozenset()
    loaded = _load(source_file, source)
    with closing(open_described(read_settings(index))) as opened:
        generation = opened.current()
        found = _find(opened, generation, loaded, source=source, rules=chosen, quiet=quiet)
    if write_baseline is not None:
        from sitegraph.cli.linting.baseline import write_baseline as write

        write(write_baseline, found)
        tell(f"{write_baseline}: {len(found)} findings")
        return
    new, resolved = split_by_baseline(found, known)
    if resolved and rules is None and source is None:
        tell(f"{len(resolved)} findings of {baseline} are fixed; --write-baseline rewrites it")
    _print(new, output, generation=generation, known=len(found) - len(new), rules=chosen)
    if fail_on is not FailOn.NEVER and any(one.severity.rank >= _rank(fail_on) for one in new):
        raise typer.Exit(1)


def _rank(fail_on: FailOn) -> int:
    from retrieval.lint.findings import Severity

    return Severity(fail_on.value).rank


def _choose_rules(wanted: str | None) -> tuple[str, ...]:
    """Return the ids of the rules to run, in order.

    Raises: ConfigError: there is no such rule, or some are named and others taken away.
    """
    from retrieval.lint.catalogue import RULES

    names = [name.strip() for name in (wanted or "").split(",") if name.strip()]
    without = [name.removeprefix("-") for name in names if name.startswith("-")]
    unknown = sorted({name.removeprefix("-") for name in names} - RULES.keys())
    if unknown:
        raise ConfigError(f"has no {', '.join(unknown)}; known: {', '.join(RULES)}", subject="--rules")
    if without and len(without) < len(names):
        raise ConfigError("names rules with and without a minus; use one of them", subject="--rules")
    if names and not without:
        return tuple(id_ for id_ in RULES if id_ in names)
    return tuple(id_ for id_, rule in RULES.items() if not rule.asked and id_ not in without)


def _load(file: Path | None, source: str | None) -> "Source | None":
    if file is None:
        return None
    if source is not None:
        raise ConfigError("a source file names its source; leave the option out", subject="--source")
    from runtime.source_file import load_source

    return load_source(file)


def _find(
    index: "Index",
    generation: int,
    loaded: "Source | None",
    *,
    source: str | None,
    rules: Sequence[str],
    quiet: bool,
) -> "tuple[LintFinding, ...]":
    from retrieval.lint.catalogue import RULES
    from retrieval.lint.findings import in_order
    from retrieval.lint.suppress import select_findings
    from runtime.progress import StageProgress
    from sitegraph.cli.linting.lines import with_lines
    from sitegraph.cli.linting.paths import from_folder
    from sitegraph.cli.linting.read_site import read_site

    sources = dict(index.ledger.sources.all())
    name = loaded.name if loaded is not None else source
    if name is not None and name not in index.ledger.documents.states():
        have = ", ".join(sorted(sources)) or "none"
        raise ConfigError(f"no such source; this index has: {have}", subject=name)
    if loaded is not None:
        sources[loaded.name] = loaded
    _warn_of_unknown_rules(sources.values())
    with StageProgress(quiet=quiet) as progress:

        def watch(stage: str, items: Iterable[Any], total: int) -> Iterator[Any]:
            return progress.over(stage, items, total=total)

        site = read_site(index, generation, source=name, sources=sources, watch=watch)
        found = [one for id_ in watch("lint", rules, len(rules)) for one in RULES[id_].find(site)]
    kept = select_findings(in_order(found), {each.name: each.lint for each in sources.values()})
    return from_folder(with_lines(kept, index), sources, Path.cwd())


def _warn_of_unknown_rules(sources: "Iterable[Source]") -> None:
    """Say that a source file switches off a rule that is none: a typing error looks just so."""
    from retrieval.lint.catalogue import RULES

    for each in sources:
        named = {*each.lint.disable, *(one.rule for one in each.lint.ignore)} - {"*"}
        for rule in sorted(named - RULES.keys()):
            warn(f"{each.name}: lint names {rule}, which is not a rule; known: {', '.join(RULES)}")


def _print_rules(form: LintFormat) -> None:
    from retrieval.lint.catalogue import RULES

    if form is LintFormat.SARIF:
        raise ConfigError("must be text or json when --list-rules is given", subject="--format")
    if form is LintFormat.JSON:
        print_json({"rules": [_rule_record(rule) for rule in RULES.values()]})
        return
    for rule in RULES.values():
        asked = ", only if --rules names it" if rule.asked else ""
        print(f"{rule.id} ({rule.severity}{asked})\n  {rule.summary}\n  {rule.help_}")


def _rule_record(rule: "LintRule") -> dict[str, Any]:
    return {
        "id": rule.id,
        "severity": rule.severity.value,
        "default": not rule.asked,
        "summary": rule.summary,
        "help": rule.help_,
    }


def _print(
    findings: "Sequence[LintFinding]", form: LintFormat, *, generation: int, known: int, rules: Sequence[str]
) -> None:
    from sitegraph.cli.linting.report import record_of, summary_of, text_of
    from sitegraph.cli.linting.sarif import MOST, sarif_of

    if form is LintFormat.TEXT:
        if findings:
            print(text_of(findings))
        print(summary_of(findings, known=known))
        return
    if form is LintFormat.SARIF and len(findings) > MOST:
        warn(f"SARIF holds the worst {MOST} of {len(findings)} findings")
    record = (
        record_of(findings, generation=generation, known=known)
        if form is LintFormat.JSON
        else sarif_of(findings, rules=rules)
    )
    print(to_json(record, indent=2))
