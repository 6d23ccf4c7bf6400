"""`sitegraph tune`: weights of the blend for one's own questions."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from runtime.settings import read_settings
from sitegraph.cli.options import FormatOption, IndexOption, QuietOption, print_result
from sitegraph.cli.reading import open_for_reading, tell, utc_now, warn

_STAGE = "ask"
_SHOWN = 5


def tune(
    questions: Annotated[
        Path,
        typer.Argument(
            help='JSON lines or a YAML list of {"id", "question", "gold": [documents]}, or checks.'
        ),
    ],
    index: IndexOption = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Store the weights beside the index if the check accepts them.")
    ] = False,
    checks: Annotated[
        Path | None,
        typer.Option(
            "--checks", metavar="FILE", help="Also write the questions that are answered, as checks (YAML)."
        ),
    ] = None,
    quiet: QuietOption = False,
    output: FormatOption = "text",
) -> None:
    """Fit the ranking weights to questions with known answers. Changes nothing without --apply.

    One half of the questions, chosen by their ids, is used for tuning, the other half to check the result. It
    takes at least ten questions, five in each half; a hundred are better.
    Gold documents are given by node id, document id, URL or path; a page of a PDF as path#page=3.

    Examples:

      sitegraph tune questions.jsonl --index ./index

      sitegraph tune questions.yaml --format json > tuning.json

      sitegraph tune questions.jsonl --index ./index --apply

      sitegraph tune questions.jsonl --checks checks/questions.yaml
    """
    from retrieval.learning.questions import check_enough
    from retrieval.learning.tuning import render_tuning
    from runtime.progress import StageProgress
    from sitegraph.actions.tune import apply_tuning, load_questions, tune_index, write_checks

    file = load_questions(questions)
    check_enough(file.questions, subject=str(questions))
    readers = open_for_reading(read_settings(index))
    with StageProgress(quiet=quiet) as progress:
        progress.expect(_STAGE, len(file.questions))
        tuned = tune_index(readers, file, on_asked=partial(progress.advance, _STAGE))
    if tuned.unreached:
        named = ", ".join(tuned.unreached[:_SHOWN]) + (", …" if len(tuned.unreached) > _SHOWN else "")
        count = len(tuned.unreached)
        warn(f"for {count} questions no expected document was retrieved ({named}); check the names")
    print_result(output, tuned.record(), [render_tuning(tuned.tuning)])
    if checks:
        write_checks(tuned, checks)
        tell(f"{len(tuned.answered)} questions written to {checks}; review them")
    if apply:
        stored = apply_tuning(tuned, timestamp=utc_now())
        tell(f"stored in {stored}; readers use it when they next open the index")
