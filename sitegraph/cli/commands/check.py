"""`sitegraph check`: does the index still answer what it must?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from runtime.settings import read_settings
from schemas.errors import ConfigError
from schemas.settings import Settings
from sitegraph.cli.options import IndexOption, QuietOption, print_json
from sitegraph.cli.reading import open_for_reading, read_reading_settings

if TYPE_CHECKING:
    from schemas.report import CheckRecord


CheckFormat = Literal["text", "json", "junit"]


def check(
    questions: Annotated[
        Path | None,
        typer.Argument(help="YAML file of questions (default: those that the sources of the index name)."),
    ] = None,
    index: IndexOption = None,
    held: Annotated[
        bool, typer.Option("--held", help="Show which evidence the last held run had lost.")
    ] = False,
    from_log: Annotated[
        bool,
        typer.Option(
            "--from-log",
            help="Propose questions from the usage log, as YAML to review, or as JSON.",
        ),
    ] = False,
    quiet: QuietOption = False,
    output: Annotated[
        CheckFormat, typer.Option("--format", help="Text for people, JSON for programs, JUnit for CI.")
    ] = "text",
) -> None:
    """Ask questions that the index must answer, and check what they cite and state. A failure is exit code 1.

    A run asks the same of what it is about to publish, if its source file names the file: checks: FILE.

    Examples:

      sitegraph check checks/questions.yaml --index ./index

      sitegraph check --index ./index --format junit > report.xml

      sitegraph check --held --index ./index

      sitegraph check --from-log --index ./index > proposed.yaml
    """
    if held and from_log:
        raise ConfigError("cannot be used with --from-log", subject="--held")
    if output == "junit" and (held or from_log):
        given = "--held" if held else "--from-log"
        raise ConfigError(f"must be text or json when {given} is given", subject="--format")
    if held:
        _show_held(read_settings(index), output)
    elif from_log:
        _propose(read_reading_settings(index), questions, output)
    else:
        _check(read_reading_settings(index), questions, output, quiet=quiet)


def _check(settings: Settings, questions: Path | None, output: CheckFormat, *, quiet: bool) -> None:
    from retrieval.checks.examine import examine, examined
    from retrieval.checks.losses import render_verdicts
    from runtime.progress import StageProgress
    from schemas.records import to_record
    from sitegraph.actions.check import load_check_files, render_junit

    checks = load_check_files(settings, questions)
    readers = open_for_reading(settings, use_rerank=True)
    with StageProgress(quiet=quiet) as progress:
        asked = examine(checks, examined(readers))
        verdicts = tuple(progress.over("check", asked, total=len(checks)))
    failed = sum(not one.passed for one in verdicts)
    if output == "json":
        told = [{**to_record(one), "passed": one.passed} for one in verdicts]
        counts = {"asked": len(verdicts), "passed": len(verdicts) - failed, "failed": failed}
        print_json({"generation": readers.generation, **counts, "questions": told})
    else:
        render = render_junit if output == "junit" else render_verdicts
        typer.echo(render(verdicts, generation=readers.generation))
    if failed:
        raise typer.Exit(1)


def _show_held(settings: Settings, output: CheckFormat) -> None:
    from indexes.health import load_record
    from indexes.layout import IndexLayout, load_manifest
    from indexes.places import place_of
    from schemas.records import to_record

    layout = IndexLayout(place_of(settings))
    load_manifest(layout)  # so that a folder without an index is told as everywhere
    record = load_record(layout)
    if output == "json":
        print_json(to_record(record) if record else {})
    else:
        typer.echo(_told(record))


def _told(record: "CheckRecord | None") -> str:
    from retrieval.checks.losses import render_losses
    from retrieval.learning.questions import count_questions

    if record is None:
        return "no run has asked any questions yet"
    counts = record.counts
    verdict = "held" if counts.held else "not held"
    said = (
        f"{record.source}, generation {record.generation} at {record.as_of}: "
        f"{counts.lost} of {count_questions(counts.asked)} lost evidence; {verdict}"
    )
    return "\n".join(filter(None, (render_losses(record.losses), said)))


def _propose(settings: Settings, questions: Path | None, output: CheckFormat) -> None:
    from retrieval.checks.proposing import propose_checks, render_proposals
    from retrieval.learning.usage import read_usage
    from runtime.yaml_files import load_checks
    from schemas.records import to_record

    known = [one.question for one in load_checks(questions)] if questions else []
    usage = read_usage(Path(settings.index))
    readers = open_for_reading(settings, use_graph=False)
    proposed = propose_checks(usage, readers.chunks.get, known=known)
    if output == "json":
        print_json({"generation": readers.generation, "questions": [to_record(one) for one in proposed]})
    else:
        typer.echo(render_proposals(proposed), nl=False)
