"""`sitegraph pull`: a copy of an index elsewhere, brought from one generation to the next."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from runtime.settings import read_settings
from sitegraph.cli.options import FormatOption, QuietOption, print_result

if TYPE_CHECKING:
    from indexes.copies.pull import PullReport

_MB = 10**6


def pull(
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL", help="Index folder, s3://BUCKET/PREFIX, or the https:// address of an index."
        ),
    ],
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Folder of the copy.")],
    trust: Annotated[
        Path | None,
        typer.Option(
            "--trust",
            metavar="KEY",
            help="Public keys in PEM; a generation signed by none of them is refused "
            "(default: SITEGRAPH_TRUST).",
        ),
    ] = None,
    with_raw: Annotated[
        bool,
        typer.Option("--with-raw/--without-raw", help="Copy the PDFs that citations show pictures of."),
    ] = True,
    max_mb: Annotated[
        int, typer.Option("--max-mb", min=1, metavar="MB", help="Refuse a generation larger than this.")
    ] = 100_000,
    grace: Annotated[
        int,
        typer.Option(
            "--grace", min=0, metavar="SECONDS", help="How long files of a replaced generation are kept."
        ),
    ] = 3600,
    accept_rollback: Annotated[
        bool,
        typer.Option(
            "--accept-rollback", help="Accept an earlier generation than the copy's, even with --trust."
        ),
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Compare the hashes of all files, and fetch what differs.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be fetched.")] = False,
    quiet: QuietOption = False,
    output: FormatOption = "text",
) -> None:
    """Copy an index from elsewhere, or bring a copy to its current generation; only new files are fetched.

    Every file is compared with its size and hash before readers see it; they switch in one rename. A pull
    that was cut off goes on where it was. query, ask and serve open the copy; a run refuses it. Over HTTP,
    any web server over an index folder will do, and sitegraph serve gives its index at /index; its token goes
    into SITEGRAPH_PULL_TOKEN. For s3:// set AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and their like.

    Examples:

      sitegraph pull https://docs.example.com/index --to ./handbook-index --trust trust.pem

      SITEGRAPH_PULL_TOKEN=... sitegraph pull http://10.0.0.7:8000/index --to ./handbook-index

      sitegraph pull s3://indexes/handbook --to ./handbook-index --dry-run --format json
    """
    from indexes.copies.places import open_place
    from indexes.copies.pull import PullOptions
    from indexes.copies.pull import pull as copy
    from indexes.publish.generation import open_trust
    from runtime.progress import StageProgress

    settings = read_settings()
    options = PullOptions(
        raw=with_raw,
        most_bytes=max_mb * _MB,
        grace_seconds=float(grace),
        accept_rollback=accept_rollback,
        check_all=repair,
        dry_run=dry_run,
    )
    with StageProgress(quiet=quiet) as progress:
        megabytes = _Megabytes(progress)
        report = copy(
            open_place(url, token=settings.pull_token, patience=settings.bucket_seconds),
            to,
            options=options,
            trust=open_trust(str(trust) if trust else settings.trust),
            now=time.time(),
            begin=megabytes.begin,
            advance=megabytes.advance,
        )
    print_result(output, asdict(report), [report_line(report)])


class _Megabytes:
    """Shows bytes by the megabyte: rate and time left are then of something."""

    def __init__(self, progress: Any) -> None:
        self._progress, self._bytes, self._shown = progress, 0, 0

    def begin(self, generation: int, files: int, size: int) -> None:
        self._progress.say(f"generation {generation}: {files} files, {size / _MB:,.1f} MB")
        self._progress.expect("MB", max(1, size // _MB))

    def advance(self, more: int) -> None:
        self._bytes += more
        if (whole := self._bytes // _MB) > self._shown:
            self._progress.advance("MB", whole - self._shown)
            self._shown = whole


def report_line(report: "PullReport") -> str:
    """Say in one line what a pull did, or would do."""
    signed = ", signature good" if report.signed else ""
    of_all = f"of {report.files} files, {report.bytes / _MB:,.1f} MB"
    moved = f"{report.fetched_files} files, {report.fetched_bytes / _MB:,.1f} MB"
    if report.dry_run:
        return f"generation {report.before} > {report.generation}: would fetch {moved} ({of_all}){signed}"
    if not report.fetched_files and report.before == report.generation:
        return f"generation {report.generation}: up to date{signed}"
    removed = f", {report.removed_files} files removed" if report.removed_files else ""
    return f"generation {report.before} > {report.generation}: fetched {moved} ({of_all}){removed}{signed}"
