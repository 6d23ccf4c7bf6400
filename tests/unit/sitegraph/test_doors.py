"""The same questions at every door: command, program, HTTP, MCP, Python, and frameworks."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import sitegraph
from indexes.layout import IndexLayout
from indexes.publish.current import write_current
from indexes.publish.generation import dump_generation, load_generation
from retrieval.__main__ import main
from retrieval.question.query import TOP_K
from schemas.families import SourceFamily
from schemas.records import to_record
from sitegraph.cli.app import run_app
from tests.fakes.copies import copy_index
from tests.fakes.governance import governance_documents
from tests.fakes.lent_parts import remembered_vectors
from tests.fakes.mcp_clients import AgentClient, connected, over_stdio
from tests.fakes.next_generation import publish_next
from tests.fakes.small_index import SOURCE, page
from tests.unit.sitegraph.cli.conftest import _no_settings_from_outside, folder
from tests.unit.sitegraph.service.conftest import serving

__all__ = ["_no_settings_from_outside", "folder"]

Record = dict[str, Any]
Door = Callable[[Record], Record]

QUESTIONS: tuple[Record, ...] = (
    {"query": "how long are records kept"},
    {"query": "What depends on GOV-0017?"},
    {"query": "GOV-0017"},
    {"query": "how is PRD-0008 related to the archive", "top_k": 2},
    {"query": "How are ADR-0031 and PRD-0008 related?"},
    {"query": "What does GOV-0017 say of tapes?", "use_graph": False},
    {"query": "ADR-0031 and cold storage", "token_budget": 40},
    {"query": "max_wal_size", "top_k": 1},
    {"query": "where do the tapes go", "top_k": 20},
    {"query": "UTF-8"},
    {"query": "retension polcy for recrods"},
    {"query": "restore", "filters": {"doc_type": ["adr", "guide"]}},
    {"query": "What depends on GOV-0017?", "filters": {"doc_type": "adr"}},
    {"query": "restore", "filters": {"doc_type": "novel"}},
    {"query": "What depends on GOV-0017?", "filters": {"source": "nowhere"}},
    {"query": "figure on tape wear", "filters": {"pdf_page": 3}},
    {"query": "default of lease_seconds"},
    {"query": "default of lease_seconds", "version": "15"},
    {"query": "default of lease_seconds", "version": "15", "filters": {"doc_type": "novel"}},
    {"query": "default of lease_seconds", "as_of": "1"},
    {"query": "xylotrope quuxification"},
)


@pytest.fixture(scope="module")
def index(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two generations, the second with a manual of two versions."""
    root = copy_index(folder, tmp_path_factory.mktemp("doors") / "index")
    manual = [
        page(f"{version}/leases", {"Leases": f"The default of lease_seconds is {seconds}."}, version=version)
        for version, seconds in (("15", 60), ("17", 90))
    ]
    documents, edges = governance_documents()
    number = publish_next(root, (*documents, *manual), edges)
    family = SourceFamily(source=SOURCE, family="shop", url="^([0-9]+)/")
    layout = IndexLayout(root)
    dump_generation(layout, replace(load_generation(layout, number), families=(family,)))
    write_current(root, number)
    return root


def options_of(asked: Record, *, version: str) -> list[str]:
    """What the two programs take alike, but for the name of *version*."""
    filters = [
        f"--filter={key}={one}"
        for key, value in asked.get("filters", {}).items()
        for one in (value if isinstance(value, list) else [value])
    ]
    named = {"top_k": "--top-k", "as_of": "--as-of", "version": version}
    given = [part for key, option in named.items() if key in asked for part in (option, str(asked[key]))]
    return [*filters, *given, *([] if asked.get("use_graph", True) else ["--no-graph"])]


@pytest.fixture(scope="module")
def agent(index: Path) -> Iterator[AgentClient]:
    """A client of `sitegraph mcp`, a process of its own."""
    with connected(over_stdio(index)) as client:
        yield client


@pytest.fixture(scope="module")
def client(index: Path) -> Iterator[TestClient]:
    """A client of `serve`."""
    with serving(index) as opened:
        yield opened


def printed(work: Callable[[list[str]], int], arguments: list[str]) -> Any:
    """What a program prints as JSON."""
    with redirect_stdout(StringIO()) as out:
        assert work(arguments) == 0
    return json.loads(out.getvalue())


@pytest.fixture(scope="module")
def doors(index: Path, agent: AgentClient, client: TestClient) -> Iterator[dict[str, Door]]:
    """What gives the bundle of a question, by the name of the door."""
    with ExitStack() as stack:
        stack.enter_context(remembered_vectors())
        opened = stack.enter_context(sitegraph.open(index, environment={}))

        def command(asked: Record) -> Record:
            budget = ["--budget", str(asked["token_budget"])] if "token_budget" in asked else []
            where = ["--index", str(index), "--format", "json", *budget]
            options = options_of(asked, version="--version")
            return dict(printed(run_app, ["query", asked["query"], *where, *options]))

        def program(asked: Record) -> Record:
            where = ["--index", str(index), "--format", "bundle"]
            options = options_of(asked, version="--of-version")
            return dict(printed(main, ["--query", asked["query"], *where, *options]))

        def library(asked: Record) -> Record:
            options = {name: value for name, value in asked.items() if name != "query"}
            return dict(to_record(opened.retrieve(asked["query"], rerank=False, **options)))

        yield {
            "query": command,
            "python -m retrieval": program,
            "HTTP": lambda asked: client.post("/retrieve", json={"rerank": False, **asked}).json(),
            "MCP": lambda asked: agent.ask("retrieve", rerank=False, **asked),
            "sitegraph.open": library,
        }


@pytest.mark.dear("all questions at all doors, two of them a process each")
def test_every_door_gives_the_same_evidence_and_the_same_reasons_for_none(doors: dict[str, Door]) -> None:
    explained = 0
    for asked in QUESTIONS:
        found = {
            name: door(asked)
            for name, door in doors.items()
            if not (name == "python -m retrieval" and "token_budget" in asked)  # has no such option
        }
        first = found["query"]
        assert bool(first["evidence"]) is ("absence" not in first["diagnostics"]), asked
        explained += not first["evidence"]
        for name, bundle in found.items():
            assert bundle == first, (name, asked)
    assert explained >= 3


def test_frameworks_and_rows_give_the_evidence_of_the_library(index: Path, doors: dict[str, Door]) -> None:
    from sitegraph.integrations.langchain import SitegraphRetriever
    from sitegraph.integrations.llamaindex import SitegraphNodeRetriever

    with sitegraph.open(index, environment={}) as opened:
        for asked in (QUESTIONS[0], QUESTIONS[1], QUESTIONS[3], QUESTIONS[17]):
            bundle = doors["sitegraph.open"](asked)
            ids = [one["chunk_id"] for one in bundle["evidence"]]
            options = {"rerank": False, **{key: asked[key] for key in ("top_k", "version") if key in asked}}
            chain = SitegraphRetriever(index=opened, **options).invoke(asked["query"])
            nodes = SitegraphNodeRetriever(opened, **options).retrieve(asked["query"])
            assert [one.id for one in chain] == ids
            assert [one.node.id_ for one in nodes] == list(dict.fromkeys(ids))
            of_version = options_of(asked, version="--of-version")
            rows = printed(main, ["--query", asked["query"], "--index", str(index), *of_version])
            assert [row["chunk_id"] for row in rows] == ids[: asked.get("top_k", TOP_K)]


def test_the_search_of_mcp_lists_what_http_finds(client: TestClient, agent: AgentClient) -> None:
    for asked in (one for one in QUESTIONS if one.keys() == {"query"}):
        evidence = client.post("/retrieve", json={**asked, "by": "page"}).json()["evidence"]
        listed = agent.ask("search", **asked)["results"]
        assert [one["id"] for one in listed] == list(dict.fromkeys(one["chunk_id"] for one in evidence))


def test_rows_say_on_stderr_why_there_are_none(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--query", "restore", "--filter", "doc_type=novel", "--index", str(index)]
    assert main(asked) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == []
    assert "Filters: doc_type=novel." in said.err
