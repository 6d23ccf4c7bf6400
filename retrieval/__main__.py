"""`python -m retrieval`: the light door for programs. Reads arguments, environment and clock."""

import argparse
import gc
import json
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from retrieval.query import FILTER_KEYS, build_query, parse_filters
from schemas.errors import ConfigError, FilterError, SchemaMismatch, SitegraphError, StoreUnavailable
from schemas.evidence import Query
from schemas.settings import SETTINGS_FILE, Settings, load_settings

_EXAMPLE = """examples:
  python -m retrieval --query "What depends on GOV-0017?" --top-k 5 --use-graph --filter doc_type=governance
  python -m retrieval --query "restore a backup" --index ./my-index --format text
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer one query on stdout and give the exit code: 0 also for no answer, 2 bad input, 3 no store."""
    options = _parser().parse_args(arguments)
    try:
        query = build_query(
            options.query,
            filters=parse_filters(options.filter),
            top_k=options.top_k,
            use_graph=options.use_graph,
            rerank=options.rerank,
        )
        settings = _read_settings()
        index = Path(options.index or settings.index)
        _print_answer(index, query, settings.environment(), as_text=options.format == "text")
    except SitegraphError as error:
        print(f"retrieval: {error}", file=sys.stderr)
        return exit_code(error)
    except KeyboardInterrupt:
        return 130
    return 0


def exit_code(error: SitegraphError) -> int:
    """Give 2 for what the caller can put right, 3 for a store out of reach, 1 for all else."""
    if isinstance(error, FilterError | ConfigError | SchemaMismatch):
        return 2
    return 3 if isinstance(error, StoreUnavailable) else 1


def _print_answer(index: Path, query: Query, environment: Mapping[str, str], *, as_text: bool) -> None:
    from indexes.wiring import open_readers
    from retrieval.log import log_queries
    from retrieval.opening import build_retriever
    from retrieval.render import render_text, to_rows

    readers = open_readers(index, environment=environment, use_graph=query.use_graph, use_rerank=query.rerank)
    for warning in readers.warnings:
        print(f"retrieval: warning: {warning}", file=sys.stderr)
    walk = build_retriever(readers).walk(query)
    bundle = walk.bundle
    print(render_text(bundle) if as_text else json.dumps(to_rows(bundle), ensure_ascii=False, indent=2))
    try:
        log_queries(index, [query], timestamp=datetime.now(UTC).isoformat(timespec="seconds"), walks=[walk])
    except OSError as error:
        print(f"retrieval: warning: the usage log cannot be written: {error}", file=sys.stderr)


def _read_settings() -> Settings:
    """Settings from the environment and `./sitegraph.toml`."""
    file = Path(SETTINGS_FILE)
    try:
        text = file.read_text(encoding="utf-8") if file.is_file() else None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read ({error})", subject=SETTINGS_FILE) from error
    return load_settings(os.environ, text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m retrieval",
        description="Print the passages that answer a query, as one JSON array of rows.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--query", required=True, help="what to look for")
    parser.add_argument("--index", help="index folder (default: SITEGRAPH_INDEX, else .sitegraph)")
    parser.add_argument("--top-k", type=int, default=5, help="number of passages, 1 to 50 (default: 5)")
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
    parser.add_argument("--format", choices=("json", "text"), default="json")
    return parser


if __name__ == "__main__":
    # One answer and the process ends: looking for garbage among the imports takes a tenth of its time.
    gc.disable()
    sys.exit(main())
