"""`sitegraph init`: a commented source file for a site, a folder or a repository."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from runtime.settings import naming_file, read_settings
from schemas.errors import ConfigError
from schemas.settings import Settings
from sitegraph.cli.failures import require_folder
from sitegraph.cli.options import (
    AllowPrivateOption,
    FormatOption,
    IndexOption,
    QuietOption,
    print_result,
)
from sitegraph.cli.reading import tell

if TYPE_CHECKING:
    from sitegraph.actions.proposal import Proposal

STDOUT = "-"


def init(
    target: Annotated[
        str,
        typer.Argument(
            metavar="URL|FOLDER|REPOSITORY|FILE",
            help="A website, a folder, a git repository (a folder, or a URL that ends in .git), a document, "
            "or a web archive.",
        ),
    ],
    file: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to write (default: NAME.yaml here); - prints it."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the source (default: made from the address).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    allow_private: AllowPrivateOption = None,
    index: IndexOption = None,
    quiet: QuietOption = False,
    output: FormatOption = "text",
) -> None:
    """Look at a site, folder or repository, and write a commented source file for it.

    Of a site it reads robots.txt, the sitemaps and a few pages, as politely as a crawl; nothing is indexed.
    The scope leaves out other versions, translations and print forms, the pace keeps to the Crawl-delay, and
    an estimate says how much there is and how long the first run takes.

    Examples:

      sitegraph init https://docs.example.org/handbook/

      sitegraph init ./docs/decisions -o decisions.yaml

      sitegraph init https://git.example.org/house/rules.git --name rules

      sitegraph init http://10.1.2.3:8080/docs/ --allow-private 10.1.2.3:8080
    """
    from sitegraph.actions.propose import check_name, propose
    from sitegraph.actions.target import find_target

    settings, found = read_settings(index), check_name(find_target(target), name)
    path = None if file == STDOUT else Path(file or f"{found.name}.yaml")
    _check_free(path, force=force)
    say = (lambda _: None) if quiet else tell
    proposal = propose(found, settings, allow_private=allow_private or (), say=say)
    text = _text(proposal, path, settings)
    if path is not None:
        with naming_file(path, "cannot be written"):
            path.write_text(text, encoding="utf-8")
    record = _record(proposal, path, index)
    if path is None:
        print_result(output, {**record, "text": text}, text.splitlines())
    else:
        print_result(output, record, _lines(proposal, record))


def _check_free(path: Path | None, *, force: bool) -> None:
    """Say at once, not after asking a site, that a file cannot be written."""
    if path is None:
        return
    require_folder(path)
    if path.exists() and not force:
        raise ConfigError(
            "already exists; choose another file with -o, or overwrite it with --force", subject=str(path)
        )


def _text(proposal: "Proposal", path: Path | None, settings: Settings) -> str:
    from runtime.source_file import parse_source
    from sitegraph.actions.proposal_text import source_text

    shown = (path or Path(f"{proposal.target.name}.yaml")).absolute()
    index = settings.index if "://" in settings.index else str(Path(settings.index).absolute())
    run = shlex.join(["sitegraph", "run", str(shown), "--index", index, *proposal.model])
    command = shlex.join(["sitegraph", "init", proposal.target.place])
    text = source_text(proposal, folder=shown.parent.resolve(), command=command, run=run)
    parse_source(text, subject=str(shown), folder=shown.parent)
    return text


def _record(proposal: "Proposal", path: Path | None, index: str | None) -> dict[str, Any]:
    from schemas.records import to_record

    shown = str(path) if path is not None else f"{proposal.target.name}.yaml"
    rest = ["--index", index] if index else []
    return {
        "file": str(path) if path is not None else None,
        "name": proposal.target.name,
        "kind": proposal.source_kind,
        "place": proposal.seed or proposal.target.place,
        "estimate": {**to_record(proposal.estimate), "seconds": proposal.estimate.seconds},
        "crawl_delay": proposal.crawl_delay,
        "exclude": [to_record(one) for one in proposal.excludes],
        "notes": list(proposal.notes),
        "next": [
            shlex.join(["sitegraph", "run", shown, *rest, *proposal.model]),
            shlex.join(["sitegraph", "serve", *rest]),
        ],
    }


def _lines(proposal: "Proposal", record: dict[str, Any]) -> Iterator[str]:
    from sitegraph.actions.proposal_text import told_estimate

    yield f"wrote {record['file']}: source {record['name']} of kind {record['kind']}"
    yield from (f"  {line}" for line in told_estimate(proposal.estimate))
    yield from (f"  left out: {one.glob} ({one.reason})" for one in proposal.excludes)
    yield from (f"  note: {note}" for note in proposal.notes[:5])
    if len(proposal.notes) > 5:
        yield f"  note: … and {len(proposal.notes) - 5} more (--format json)"
    yield f"next: {record['next'][0]}"
