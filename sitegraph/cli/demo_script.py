"""`sitegraph demo`: see it work on this project's own manual."""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from runtime.settings import read_settings
from schemas.edges import EdgeKind, EvidenceRole
from schemas.errors import ConfigError
from schemas.settings import Settings
from sitegraph.cli.commands.run import prepare_prefect, print_report
from sitegraph.cli.reading import open_for_reading, terminal_width


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """Serve a folder on a free loopback port and give its address, `host:port`."""
    handler = partial(_QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: whoever asks has a report of its own."""


DOCS = Path(__file__).parents[2] / "docs"
MARK = ".sitegraph-demo"
EDITED_PAGE = "crawling.md"
EDIT = (
    "\n## Added by the demo\n\nThe demonstration appended this section between two crawls. Only this passage "
    "is new, so only this passage is embedded.\n"
)


QUESTIONS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("When is a page that answers 404 deleted from the index?", {"kind": "html"}),
    ("What does exit code 4 mean?", {}),
    ("Why does a reader need neither torch nor transformers?", {"kind": "pdf"}),
    ("What does sitegraph rollback do?", {"kind": "html"}),
)
"""What the manual is asked, and with which filters."""


def demo(
    folder: Annotated[
        Path, typer.Option("--dir", help="Folder for the demo: replaced if it exists, and kept afterwards.")
    ] = Path("demo"),
) -> None:
    """Serve the manual on a loopback port, crawl it, ask three questions, edit a page, crawl again.

    Needs a checkout of sitegraph: the manual is its docs/ folder. The second crawl is a Prefect flow run.

    Examples:

      sitegraph demo

      sitegraph demo --dir ./tour
    """
    os.environ.setdefault("SITEGRAPH_CACHE", str(Path(".cache") / "models"))
    prepare_prefect(os.environ)
    import_module("prefect")  # of the extra that builds: where it is missing, the command says so
    run_demo(folder)


def run_demo(folder: Path) -> None:
    """Do it all in *folder*, which each demo replaces, and which is left behind to play with.

    Raises: ConfigError: no checkout, so no manual to serve; or the folder is somebody's own.
    """
    started = time.monotonic()
    _prepare(folder)
    _say(1, f"building the manual (HTML and PDF) from {os.path.relpath(DOCS)}")
    _build(folder)
    with serve_folder(folder / "site") as address:
        source = _write_source(folder, address)
        _say(2, f"crawling http://{address}/ into {folder / 'index'}")
        settings = read_settings(str(folder / "index"))
        print_report(_index(source, settings), source=str(source), index=str(folder / "index"))
        _tell_tools(folder)
        for number, (question, filters) in enumerate(QUESTIONS, start=3):
            _say(number, question)
            _ask(question, filters, folder)
        _say(3 + len(QUESTIONS), f"adding a section to {EDITED_PAGE}; crawling again, as a Prefect flow run")
        _edit(folder)
        report = _index(source, settings, prefect=True)
        print_report(report, source=str(source), index=str(folder / "index"))
        _explain(report)
    print(f"\nDone in {time.monotonic() - started:.0f} s. {_next_steps(folder)}")


def _prepare(folder: Path) -> None:
    if not (DOCS / "build.py").is_file():
        raise ConfigError("the demo serves the manual of a checkout; run it from one", subject=str(DOCS))
    if folder.exists() and not (folder / MARK).exists():
        raise ConfigError("already exists and is not from a demo; choose another --dir", subject=str(folder))
    import_module("mkdocs")  # of an extra of its own: where it is missing, the command says so
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / MARK).touch()
    shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns("__pycache__", "*.py"))


def _build(folder: Path) -> None:
    options = ["--docs", str(folder / "docs"), "--out", str(folder / "site")]
    built = _python(str(DOCS / "build.py"), *options)
    if built.returncode != 0:
        raise ConfigError(f"cannot be built ({built.stderr.strip().splitlines()[-1]})", subject=str(DOCS))


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=DOCS.parent, capture_output=True, text=True, check=False)


def _write_tools(folder: Path) -> Path:
    """What the command says of itself: the tools that the manual explains."""
    told = _python("-m", "sitegraph", "--help").stdout
    path = folder / "tools" / "sitegraph.txt"
    path.parent.mkdir()
    path.write_text(told.replace("python -m sitegraph", "sitegraph"))
    return path


def _write_source(folder: Path, address: str) -> Path:
    path, tools = folder / "manual.yaml", _write_tools(folder)
    path.write_text(
        "name: manual\n"
        "kind: web\n"
        f'seeds: ["http://{address}/index.html", "http://{address}/manual.pdf"]\n'
        f'allow_private: ["{address}"]\n'
        "rate: {per_host_delay: 0}\n"
        'scope: {exclude: ["*.json"]}\n'
        "metadata: {doc_type: manual}\n"
        f"tools: [{{path: {tools.relative_to(folder)}, format: help}}]\n"
    )
    return path


def _index(source: Path, settings: Settings, *, prefect: bool = False) -> dict[str, Any]:
    from flows.start import run_source

    return run_source(str(source), settings, due=False, prefect=prefect)


def _tell_tools(folder: Path) -> None:
    """Say of how many commands the manual has a passage that defines them."""
    graph = open_for_reading(Settings(index=str(folder / "index"))).graph
    if graph is None:
        return
    tools = graph.ids_between("tool:", "tool;", limit=1000)
    edges = graph.edges_from(tools, kinds={EdgeKind.EXPLAINED_BY})
    defined = {edge.src for edge in edges if edge.role is EvidenceRole.DEFINES}
    print(
        f"\nOf {len(tools)} tools in tools/sitegraph.txt the manual defines {len(defined)}; "
        f"{len(edges)} edges of kind explained_by lead to its passages."
    )


def _ask(question: str, filters: Mapping[str, str], folder: Path) -> None:
    from retrieval.bundle.render import render_text
    from retrieval.evidence import build_retriever
    from retrieval.question.query import build_query, filters_from_record
    from runtime.page_images import stored_bytes
    from sitegraph.cli.commands.show import show_chunk

    settings = Settings(index=str(folder / "index"))
    readers = open_for_reading(settings)
    query = build_query(question, filters=filters_from_record(filters), top_k=2)
    bundle = build_retriever(readers).retrieve(query)
    print(render_text(bundle, width=terminal_width()))
    for evidence in bundle.evidence[:1]:
        if evidence.pdf is not None:
            (chunk,) = readers.chunks.get([evidence.chunk_id])
            picture = folder / "citation.png"
            show_chunk(readers, chunk, out=picture, raw_of=stored_bytes(settings, readers))
            print(f"The page with the passage boxed: {picture}")


def _edit(folder: Path) -> None:
    page = folder / "docs" / EDITED_PAGE
    page.write_text(page.read_text() + EDIT)
    _build(folder)


def _explain(report: dict[str, Any]) -> None:
    documents, chunks = report["documents"], report["chunks"]
    print(
        f"\nOf {documents['scheduled']} documents {documents['not_modified']} were not sent again (304); "
        f"{documents['changed']} had changed. {chunks['added']} passages are new, {chunks['removed']} went, "
        f"{chunks['unchanged']} stayed, and {chunks['embedded']} texts were embedded."
    )


def _next_steps(folder: Path) -> str:
    index = folder / "index"
    return (
        f"The index is in {index}. Try:\n"
        f'  .venv/bin/sitegraph query "how do I roll back?" --index {index}\n'
        f'  .venv/bin/sitegraph query "how do I roll back?" --tool "sitegraph rollback" --index {index}\n'
        f"  .venv/bin/sitegraph status --index {index}\n"
        f"  .venv/bin/sitegraph export --index {index} --what edges | head -3\n"
        f"  .venv/bin/sitegraph verify --index {index}\n"
        "The second crawl as a graph of its stages: .venv/bin/prefect server start, then "
        "http://127.0.0.1:4200/runs"
    )


def _say(number: int, message: str) -> None:
    print(f"\n[{number}] {message}\n", flush=True)
