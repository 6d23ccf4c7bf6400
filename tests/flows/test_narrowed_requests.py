"""Requests that say what their answers may be put to: nothing that refuses it is in them, at any door."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.fakes.mcp_clients import AgentClient, connected, over_stdio, text_of
from tests.fakes.running_service import running
from tests.fakes.site_server import Reply, Site, serve
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]

PDFS = Path(__file__).parents[1] / "golden" / "documents" / "pdf"
NARROWED, USES = "allow=ai-input", {"allow": "ai-input"}
NOAI = {"X-Robots-Tag": "noai"}
WORD = "quicksilver"
"""A word that stands in refused pages alone."""
OPEN, HIDDEN = "Figure 1: The bell, seen from below.", "Figure 1: The flag for a pilot on board."
QUESTIONS = (
    "Which valve does the harbour lamp have?",
    f"Where is the {WORD} kept?",
    f"{OPEN} {HIDDEN}",
    "How is the open lamp related to the refused lamp?",
)


def page(title: str, more: str = "", links: tuple[str, ...] = ()) -> bytes:
    text = f"The {title} lamp of the harbour has a valve of brass that {title} keepers clean on Mondays. " * 3
    led = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    return (
        f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1><p>{text}</p>"
        f"<h2>Stores</h2><p>{more or f'The {title} keeper has a store of oil behind the tower.'}</p>"
        f"{led}</main></body></html>"
    ).encode()


def pdf(name: str, headers: dict[str, str] | None = None) -> Reply:
    return Reply((PDFS / name).read_bytes(), headers=headers or {}, content_type="application/pdf")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """Pages and two PDFs with figures; a page and a PDF refuse to be an input."""
    links = ("/open.html", "/refused.html", "/open.pdf", "/refused.pdf")
    told = f"The {WORD} is kept in the cellar of the refused lamp, behind the valve."
    served = Site(
        {
            "/": Reply(page("start", links=links)),
            "/open.html": Reply(page("open", links=("/refused.html",))),
            "/refused.html": Reply(page("refused", told, ("/open.html",)), headers=NOAI),
            "/open.pdf": pdf("weasyprint-two-columns.pdf"),
            "/refused.pdf": pdf("cairo-drawing.pdf", NOAI),
        }
    )
    with serve(served):
        yield served


def write_source(folder: Path, site: Site) -> Path:
    file = folder / "lamps.yaml"
    file.write_text(
        f"name: lamps\nkind: web\nseeds: ['{site.url('/')}']\nallow_private: ['{site.address}']\n"
        "rate: {per_host_delay: 0}\n"
    )
    return file


def called(program: Sitegraph, *command: str) -> None:
    done = program.call(*command, "--quiet")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def index(sitegraph: Sitegraph, site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two audiences: the whole, and what does not refuse to be an input; two generations."""
    folder = tmp_path_factory.mktemp("narrowed")
    source, root = write_source(folder, site), folder / "index"
    called(sitegraph, "run", str(source), "--index", str(root))
    called(sitegraph, "audiences", "--add", NARROWED, "--index", str(root))
    open_page = site.pages["/open.html"]
    site.pages["/open.html"] = Reply(page("open", "The keeper has moved the oil.", ("/refused.html",)))
    called(sitegraph, "run", str(source), "--index", str(root))
    site.pages["/open.html"] = open_page
    return root


@contextmanager
def client_of(port: int) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def whole(index: Path) -> Iterator[httpx.Client]:
    """A client of a service over the whole index."""
    with running(index, "--workers", "1") as (_, port), client_of(port) as client:
        yield client


@pytest.fixture(scope="module")
def alone(index: Path) -> Iterator[httpx.Client]:
    """A client of a service that is narrowed for everybody."""
    options = ("--workers", "1", "--allow", "ai-input")
    with running(index, *options) as (_, port), client_of(port) as client:
        yield client


def asked(client: httpx.Client, question: str, **more: Any) -> dict[str, Any]:
    body = {"query": question, "top_k": 50, "token_budget": 20_000, "rerank": False, **more}
    answer = client.post("/retrieve", json=body)
    assert answer.status_code == 200, answer.text
    bundle: dict[str, Any] = answer.json()
    return bundle


@pytest.fixture(scope="module")
def ids(whole: httpx.Client) -> dict[str, set[str]]:
    """Chunks and documents of the whole index by the last part of the address."""
    found: dict[str, set[str]] = {}
    for entry in whole.get("/changes", params={"since": 0}).json()["entries"]:
        named = {id_ for id_ in (entry["new_id"], entry["old_id"]) if id_}
        found.setdefault(entry["uri"].rpartition("/")[2], set()).update(named)
    assert {"refused.html", "refused.pdf", "open.pdf"} <= found.keys()
    return found


def paths(ids: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Every address of the API that reads one thing, for every id there is, and whose it is.

    Pictures of the first chunks of each document alone: each is drawn by a process.
    """
    for name, known in ids.items():
        chunks = sorted(id_ for id_ in known if id_.startswith("chunk:"))
        yield from ((name, f"/documents/{id_}") for id_ in sorted(known - {*chunks}))
        yield from ((name, f"/chunks/{id_}{part}") for id_ in chunks for part in ("", "/history"))
        yield from ((name, f"/chunks/{id_}/page.png") for id_ in chunks[:1])
        yield from ((name, f"/chunks/{id_}/figure.png") for id_ in chunks)


def same(one: httpx.Response, other: httpx.Response) -> bool:
    return (one.status_code, one.content) == (other.status_code, other.content)


def test_a_narrowed_request_is_answered_as_by_a_service_that_is_narrowed(
    whole: httpx.Client, alone: httpx.Client, ids: dict[str, set[str]]
) -> None:
    """Byte for byte; what refuses is there for who does not narrow, and not there for who does."""
    pictures = 0
    for name, path in paths(ids):
        narrowed = whole.get(path, params=USES)
        assert same(narrowed, alone.get(path)), path
        if name.startswith("refused."):
            assert narrowed.status_code == 404, path
        pictures += narrowed.headers["content-type"] == "image/png"
    assert pictures >= 2
    seen = [path for name, path in paths(ids) if name == "refused.pdf" and "png" in path]
    assert 200 in {whole.get(path).status_code for path in seen if "figure" in path}
    for question in QUESTIONS:
        body = {"query": question, "top_k": 50, "token_budget": 20_000, "rerank": False}
        expected = alone.post("/retrieve", json=body)
        narrowed = whole.post("/retrieve", json={**body, "allow": ["ai-input"]})
        assert same(narrowed, expected), question
        assert same(whole.post("/retrieve", json=body, params=USES), expected), question
        found = narrowed.json()
        assert not any("refused." in one["url"] for one in (*found["evidence"], *found["citations"]))
        assert WORD not in json.dumps(found["evidence"])
    for path in ("/changes?since=0", "/changes?since=1", "/index/CURRENT", "/index/index.json"):
        assert same(whole.get(path, params={**httpx.URL(path).params, **USES}), alone.get(path)), path


def test_who_does_not_narrow_gets_the_whole_before_and_after(
    whole: httpx.Client, alone: httpx.Client
) -> None:
    """In turn, at every order: nothing that is kept for the one answers the other."""
    for question in QUESTIONS:
        first = asked(whole, question)
        narrowed = asked(whole, question, allow=["ai-input"])
        assert (asked(whole, question), narrowed) == (first, asked(alone, question))
        assert first["generation"] == narrowed["generation"]
    assert WORD in json.dumps(asked(whole, QUESTIONS[1])["evidence"])
    assert asked(whole, QUESTIONS[1]) != asked(alone, QUESTIONS[1])
    etags = {whole.get("/index/CURRENT", params=given).headers["etag"] for given in ({}, USES)}
    assert len(etags) == 2


Calls = tuple[tuple[str, dict[str, Any]], ...]


def calls(ids: dict[str, set[str]]) -> Calls:
    """Calls of each tool, for what is open and for what refuses.

    Pictures are compared over HTTP: here one that is not drawn in time is an answer without.
    """
    every = sorted(id_ for known in ids.values() for id_ in known)
    chunks = [min(id_ for id_ in known if id_.startswith("chunk:")) for known in ids.values()]
    return (
        *(("retrieve", {"query": question, "rerank": False}) for question in QUESTIONS),
        ("search", {"query": QUESTIONS[1]}),
        *(("fetch", {"id": id_}) for id_ in every),
        *(("show_citation", {"id": id_}) for id_ in chunks if id_ not in ids["open.pdf"]),
        *(("neighbourhood", {"node": id_, "hops": 3, "limit": 200}) for id_ in every),
        ("verify_answer", {"answer": "It has a valve [S1].", "chunk_ids": chunks[:1]}),
        ("verify_answer", {"answer": "It has a valve [S1].", "chunk_ids": chunks}),
        ("changes", {"since": 0}),
        ("list_sources", {}),
    )


def answers(agent: AgentClient, asked: Calls, **more: Any) -> list[tuple[bool, str]]:
    found = [agent.call(name, **arguments, **more) for name, arguments in asked]
    return [(bool(one.is_error), text_of(one)) for one in found]


@contextmanager
def agent_at(client: httpx.Client, query: str = "") -> Iterator[AgentClient]:
    with connected(streamable_http_client(str(client.base_url.join(f"/mcp{query}")))) as agent:
        yield agent


def test_every_tool_narrows_by_its_argument_or_by_the_address_of_mcp(
    whole: httpx.Client, alone: httpx.Client, index: Path, ids: dict[str, set[str]]
) -> None:
    chunks = {name: sorted(id_ for id_ in ids[name] if id_.startswith("chunk:")) for name in ids}
    with agent_at(alone) as narrow, agent_at(whole) as agent, agent_at(whole, f"?{NARROWED}") as addressed:
        asked = calls(ids)
        expected = answers(narrow, asked)
        assert answers(agent, asked, allow=["ai-input"]) == expected
        assert answers(addressed, asked) == expected
        assert answers(agent, asked) != expected
        fenced = [text for (name, _), (_, text) in zip(asked, expected, strict=True) if name != "search"]
        assert not any(WORD in text for text in fenced if QUESTIONS[1] not in text)
        (hidden,) = (one for one in chunks["refused.html"] if WORD in text_of(agent.call("fetch", id=one)))
        uri = f"sitegraph://chunk/{hidden.removeprefix('chunk:')}"
        assert WORD in agent.read(uri).text
        with pytest.raises(MCPError, match="has no"):
            addressed.read(uri)
        for reading, word in ((agent, True), (addressed, False)):
            assert (WORD in prompt(reading)) == word
        assert WORD not in prompt(agent, allow="ai-input")
        assert "is not a use" in refused(lambda: prompt(agent, allow="reading"))
    with connected(over_stdio(index)) as local:
        assert answers(local, asked[:8], allow=["ai-input"]) == expected[:8]


def prompt(agent: AgentClient, **more: str) -> str:
    """The evidence of the prompt for the question after the word that refused pages have."""
    given = {"question": QUESTIONS[0], **more}
    found = agent.portal.call(agent.client.get_prompt, "answer_with_citations", given)
    return str(found.messages[0].content.text)


def refused(work: Callable[[], Any]) -> str:
    with pytest.raises(MCPError) as error:
        work()
    return str(error.value)


PROBLEMS = (
    ({"allow": "reading"}, "query.allow.0: Input should be 'search', 'ai-input' or 'ai-train'"),
    ({"allow": ""}, "query.allow.0: Input should be"),
    ({"allow": "ai-train"}, "allow: no audience allow=ai-train; build it with: sitegraph audiences --add "),
    ({"allow": ["ai-input", "search"]}, "--add allow=ai-input+allow=search"),
)


@pytest.mark.parametrize(("given", "words"), PROBLEMS, ids=str)
def test_what_cannot_be_narrowed_to_is_a_problem_that_says_what_to_do(
    whole: httpx.Client, ids: dict[str, set[str]], index: Path, given: dict[str, Any], words: str
) -> None:
    chunk = next(id_ for id_ in ids["open.html"] if id_.startswith("chunk:"))
    for path in (f"/chunks/{chunk}", f"/chunks/{chunk}/figure.png", "/changes?since=0"):
        answer = whole.get(path, params={**httpx.URL(path).params, **given})
        assert (answer.status_code, words in answer.json()["detail"]) == (422, True), answer.text
        assert str(index) not in answer.text
    answer = whole.post("/retrieve", json={"query": QUESTIONS[0]}, params=given)
    assert (answer.status_code, words in answer.json()["detail"]) == (422, True), answer.text


def test_tools_say_the_same(whole: httpx.Client) -> None:
    with agent_at(whole) as agent:
        assert "--add allow=ai-train" in agent.refusal("search", query="lamp", allow=["ai-train"])
        assert "should be 'search', 'ai-input' or" in agent.refusal("search", query="lamp", allow=["x"])
        assert "at least 1 item" in agent.refusal("list_sources", allow=[])
    with agent_at(whole, "?allow=") as agent:
        assert "names no use" in agent.refusal("list_sources")


def test_doors_that_are_not_narrowed_refuse_to_be(whole: httpx.Client, ids: dict[str, set[str]]) -> None:
    """For whoever narrows must not be answered from the whole: pages, readiness, metrics, events."""
    chunk = next(id_ for id_ in ids["open.html"] if id_.startswith("chunk:"))
    html = {"Accept": "text/html"}
    for path in ("/", "/search?q=lamp", "/answer?q=lamp", f"/cite/{chunk}", "/runs", "/readyz", "/metrics"):
        given = {**httpx.URL(path).params, **USES}
        answer = whole.get(path, params=given, headers=html)
        assert (answer.status_code, "not taken here" in answer.text) == (422, True), path
        assert whole.get(path, headers=html).status_code == 200, path


def test_a_held_audience_follows_what_is_published_and_what_is_built_again(
    sitegraph: Sitegraph, site: Site, index: Path, tmp_path: Path
) -> None:
    """A page that comes to refuse is gone at the next request; so it is where its audience is made anew."""
    root = shutil.copytree(index, tmp_path / "index", symlinks=True)
    source, kept = write_source(tmp_path, site), dict(site.pages)
    with running(root, "--workers", "1") as (_, port), client_of(port) as client:

        def seen() -> set[str]:
            cited = asked(client, QUESTIONS[0], allow=["ai-input"])["citations"]
            return {one["url"].rpartition("/")[2] for one in cited if one["url"].endswith("html")}

        assert "open.html" in seen()
        site.pages["/open.html"] = Reply(page("open"), headers=NOAI)
        called(sitegraph, "run", str(source), "--index", str(root))
        assert "open.html" not in seen()
        site.pages.update(kept)
        called(sitegraph, "run", str(source), "--index", str(root))
        called(sitegraph, "audiences", "--drop", NARROWED, "--index", str(root))
        answer = client.post("/retrieve", json={"query": "lamp", "allow": ["ai-input"]})
        assert (answer.status_code, NARROWED in answer.text) == (422, True)
        called(sitegraph, "audiences", "--add", NARROWED, "--index", str(root))
        before = asked(client, QUESTIONS[0], allow=["ai-input"])["generation"]
        assert "open.html" in seen()
        called(sitegraph, "audiences", "--drop", NARROWED, "--index", str(root))
        site.pages["/open.html"] = Reply(page("open"), headers=NOAI)
        called(sitegraph, "run", str(source), "--index", str(root))
        called(sitegraph, "audiences", "--add", NARROWED, "--index", str(root))
        assert asked(client, QUESTIONS[0], allow=["ai-input"])["generation"] == before, "of the same number"
        assert "open.html" not in seen()
        site.pages.update(kept)


def test_a_request_narrows_what_its_token_may_see_and_never_widens_it(
    sitegraph: Sitegraph, tmp_path: Path
) -> None:
    files, noai = tmp_path / "files", '<meta name="robots" content="noai">'
    pages = {"open": "", "refused": noai, "staff/open": "", "staff/refused": noai}
    for name, head in pages.items():
        (files / name).parent.mkdir(parents=True, exist_ok=True)
        body = page(name.replace("/", " ")).replace(b"</head>", f"{head}</head>".encode())
        (files / f"{name}.html").write_bytes(body)
    source, index, tokens = tmp_path / "lamps.yaml", tmp_path / "index", tmp_path / "tokens.yaml"
    source.write_text("name: lamps\nkind: files\nroots: [files]\naccess:\n  paths:\n    'staff/*': [staff]\n")
    readers = {"guest": [], "keeper": ["staff"], "narrow": ["staff", NARROWED], "owner": ["*"]}
    listed = [
        {"name": name, "sha256": sha256(name.encode()).hexdigest(), "groups": groups}
        for name, groups in readers.items()
    ]
    tokens.write_text(json.dumps({"tokens": listed}))
    called(sitegraph, "run", str(source), "--index", str(index))
    added = ("staff", f"staff+{NARROWED}", NARROWED)
    called(sitegraph, "audiences", "--index", str(index), *(f"--add={name}" for name in added))
    with (
        running(index, "--workers", "1", SITEGRAPH_TOKENS=str(tokens)) as (_, port),
        client_of(port) as client,
    ):

        def seen(reader: str, *uses: str) -> Any:
            body = {"query": QUESTIONS[0], "top_k": 50, **({"allow": list(uses)} if uses else {})}
            answer = client.post("/retrieve", json=body, headers={"Authorization": f"Bearer {reader}"})
            if answer.status_code != 200:
                return answer.json()["detail"]
            return {one["file_path"].removesuffix(".html") for one in answer.json()["evidence"]}

        assert seen("guest") == {"open", "refused"}
        assert seen("guest", "ai-input").endswith(f"sitegraph audiences --add public+{NARROWED}")
        assert "staff" not in seen("guest", "ai-input")
        assert seen("keeper") == {*pages}
        assert seen("keeper", "ai-input") == seen("narrow") == seen("narrow", "ai-input")
        assert seen("keeper", "ai-input") == {"open", "staff/open"} == seen("owner", "ai-input")
        assert seen("narrow", "search").endswith(f"--add staff+{NARROWED}+allow=search")
        assert client.get("/readyz", params=USES).status_code == 422, "who has no token is told of nothing"
        assert client.get("/changes", params={"since": 0, **USES}).status_code == 401
