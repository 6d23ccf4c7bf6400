"""`python -m retrieval`: the light program for other programs. Reads arguments, environment and clock."""

import argparse
import gc
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.question.query import FILTER_KEYS, TOP_K, build_query, parse_filters
from schemas.access import narrow_groups
from schemas.errors import ConfigError, SitegraphError, exit_code, why_no_room
from schemas.evidence import Interface, Query
from schemas.leaving import leave
from schemas.redaction import escape_unwritable, one_line, to_json
from schemas.settings import SETTINGS_FILE, Settings, extra_of, install_line, load_settings, version_line

if TYPE_CHECKING:
    from indexes.wiring import Readers
    from schemas.evidence import ContextBundle

_EXAMPLE = """examples:
  python -m retrieval --query "What depends on GOV-0017?" --top-k 5 --use-graph --filter doc_type=governance
  python -m retrieval --doc-id GOV-0017 --index ./my-index --filter "last_modified>=2024-01-01"
  python -m retrieval --query "restore a backup" --index ./my-index --filter recency=90d --format text
  python -m retrieval --query "How are GOV-0099 and ADR-0042 related?" --index ./my-index --format bundle
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer one query on stdout and give the exit code: 0 also for no answer, 2 bad input, 3 no store,
    4 refused."""
    escape_unwritable(sys.stdout, sys.stderr)
    options = _parser().parse_args(arguments)
    try:
        query = build_query(
            options.query if options.doc_id is None else options.doc_id,
            filters=parse_filters(options.filter),
            top_k=options.top_k,
            use_graph=options.use_graph,
            rerank=options.rerank,
            version=options.version_of,
            only_named=options.doc_id is not None,
        )
        _answer(query, _read_settings(options), as_of=options.as_of, form=options.format)
    except BrokenPipeError:
        return _leave_output(0)
    except OSError as error:
        print(f"retrieval: cannot continue: {why_no_room(error) or error}", file=sys.stderr)
        return _leave_output(1)
    except ModuleNotFoundError as error:
        if (extra := extra_of(error.name or "")) is None:
            raise
        print(f"retrieval: needs {error.name}; run: {install_line(extra)}", file=sys.stderr)
        return 2
    except SitegraphError as error:
        print(f"retrieval: {one_line(str(error))}", file=sys.stderr)
        return exit_code(error)
    except KeyboardInterrupt:
        return 130
    return 0


def _leave_output(code: int) -> int:
    """Let what is still buffered go nowhere: else Python ends with 120 over it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _answer(query: Query, settings: Settings, *, as_of: str | None, form: str) -> None:
    from retrieval.once import answer_each, open_once

    def warn(message: str) -> None:
        _say(f"warning: {message}")

    def now() -> str:
        return datetime.now(UTC).isoformat(timespec="seconds")

    readers = open_once(
        settings, warn=warn, use_graph=query.use_graph, use_rerank=bool(query.rerank), as_of=as_of
    )
    door, clock = Interface.RETRIEVAL, time.perf_counter
    for result, _ in answer_each(readers, settings, [query], door=door, now=now, clock=clock, warn=warn):
        _print_bundle(readers, result.bundle, form=form, top_k=query.top_k)


def _print_bundle(readers: "Readers", bundle: "ContextBundle", *, form: str, top_k: int) -> None:
    from retrieval.bundle.render import to_rows
    from retrieval.evidence import absence_in, render_absence, render_evidence
    from schemas.records import to_record

    if form == "text":
        print(render_evidence(readers, bundle))
    else:
        print(to_json(to_record(bundle) if form == "bundle" else to_rows(bundle)[:top_k], indent=2))
    sys.stdout.flush()  # here, where a closed pipe still gets its exit code
    if form == "json" and (absence := absence_in(bundle)):
        print(render_absence(absence), file=sys.stderr)


def _read_settings(options: argparse.Namespace) -> Settings:
    """Settings from the environment and `./sitegraph.toml`; an index elsewhere is copied first."""
    from indexes.markers import for_readers

    file = Path(SETTINGS_FILE)
    try:
        text = file.read_text(encoding="utf-8") if file.is_file() else None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read ({error})", subject=SETTINGS_FILE) from error
    settings = load_settings(os.environ, text)
    groups = settings.groups if options.groups is None else options.groups
    groups = narrow_groups(groups, options.allow, subject="--allow")
    settings = for_readers(replace(settings, index=options.index or settings.index, groups=groups))
    if "://" not in settings.index:
        return settings
    from indexes.copies.cache import with_local_index

    return with_local_index(settings, now=time.time, say=_say)


def _say(line: str) -> None:
    print(f"retrieval: {one_line(line)}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m retrieval",
        description="Print the passages that answer a query, as one JSON array of rows or as a bundle.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=version_line())
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--query", help="what to look for")
    asked.add_argument(
        "--doc-id",
        metavar="ID",
        help="a document's own id, such as GOV-0017: it, and what typed edges join to it",
    )
    parser.add_argument("--index", help="index folder (default: SITEGRAPH_INDEX, else .sitegraph)")
    parser.add_argument(
        "--top-k", type=int, default=TOP_K, help="number of passages, 1 to 50 (default: %(default)s)"
    )
    parser.add_argument(
        "--use-graph", action="store_true", default=True, help="follow the graph (the default)"
    )
    parser.add_argument("--no-graph", action="store_false", dest="use_graph", help="chunk store only")
    parser.add_argument("--rerank", action="store_true", help="have a cross-encoder order the best")
    parser.add_argument(
        "--filter",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"keep matching chunks; repeatable; keys: {', '.join(FILTER_KEYS)}",
    )
    parser.add_argument(
        "--as-of",
        metavar="DATE|GENERATION",
        help="read the index as it was: a generation that is kept, or the newest of a month, day or time",
    )
    parser.add_argument(
        "--of-version",
        dest="version_of",
        metavar="VERSION",
        help="of manuals with versions: that one, such as 15 or postgresql=15; latest (the default); all",
    )
    parser.add_argument(
        "--groups",
        metavar="A,B",
        help="read what readers of these groups see (default: SITEGRAPH_GROUPS, else the whole index)",
    )
    parser.add_argument(
        "--allow",
        metavar="USE",
        help="only documents whose sites do not refuse this use: ai-input, search or ai-train, or several",
    )
    parser.add_argument(
        "--format",
        choices=("json", "bundle", "text"),
        default="json",
        help="rows; the whole bundle, with relations; paragraphs (default: json)",
    )
    return parser


if __name__ == "__main__":
    # One answer and the process ends: looking for garbage among the imports takes a tenth of its time.
    gc.disable()
    leave(main())
