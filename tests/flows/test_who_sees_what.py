"""A real site with a hidden folder, a hidden PDF and a hidden page: what clients of each kind get."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client

import sitegraph as api
from schemas.errors import ConfigError
from tests.fakes.mcp_clients import AgentClient, connected, over_stdio
from tests.fakes.real_sites import DATA, unpack
from tests.fakes.running_service import running
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.data, pytest.mark.server]

QUESTION = "Which release process do maintainers follow, and who signs the tariff of the plan?"
PLAN = "The tariff of the plan is signed by the treasurer on the ninth of May."
FOLDER, SHEET, PAGE = "community/", "sheets/", "notes/plan.md"
TOKENS = {"guest": (), "staff": ("staff",), "treasury": ("hr", "staff"), "owner": ("*",)}


@dataclass(frozen=True)
class Site:
    """The index of the site, its source file, its folder of files, and the file of tokens."""

    index: Path
    source: Path
    files: Path
    tokens: Path


@pytest.fixture(scope="module")
def site(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("access")
    html = next(unpack("sites/requests.tar.xz", "2.32", folder / "tar").rglob("html/index.html")).parent
    files = folder / "files"
    shutil.copytree(html / "community", files / "community")
    shutil.copytree(html / "dev", files / "dev")
    shutil.copy(html / "index.html", files / "index.html")
    (files / "sheets").mkdir()
    shutil.copy(DATA / "pdf-gold/icdar2013-tables/eu-001.pdf", files / "sheets/eu-001.pdf")
    (files / "notes").mkdir()
    (files / PAGE).write_text(
        f"---\naccess: [staff]\n---\n# Plan\n\n{PLAN} See [support](../dev/authors.html).\n"
    )
    source = folder / "requests.yaml"
    source.write_text(
        "name: requests\nkind: files\nroots: [files]\n"
        "access:\n  paths:\n    'community/*': [staff]\n    'sheets/*': [hr]\n"
    )
    index = folder / "index"
    done = sitegraph.call("run", str(source), "--index", str(index), "--quiet")
    assert done.returncode == 0, done.stderr
    added = sitegraph.call(
        "audiences", "--index", str(index), "--add", "staff", "--add", "hr,staff", "--quiet"
    )
    assert added.returncode == 0, added.stderr
    tokens = folder / "tokens.yaml"
    tokens.write_text(
        "tokens:\n"
        + "".join(
            f"- name: {name}\n  sha256: {sha256(name.encode()).hexdigest()}\n  groups: {json.dumps(groups)}\n"
            for name, groups in TOKENS.items()
        )
    )
    return Site(index=index, source=source, files=files, tokens=tokens)


@pytest.fixture(scope="module")
def service(site: Site) -> Iterator[str]:
    with running(site.index, "--workers", "1", SITEGRAPH_TOKENS=str(site.tokens)) as (_, port):
        yield f"http://127.0.0.1:{port}"


def as_reader(service: str, name: str) -> httpx.Client:
    """A client of another make, with the token of a reader."""
    return httpx.Client(base_url=service, headers={"Authorization": f"Bearer {name}"}, timeout=60)


def paths_of(bundle: dict[str, Any]) -> set[str]:
    """Folders, or the page, of what was found, as far as they are for some."""
    found = {one["file_path"] for one in bundle["evidence"]}
    return {part for part in (FOLDER, SHEET, PAGE) if any(path.startswith(part) for path in found)}


def asked(client: httpx.Client, question: str = QUESTION) -> dict[str, Any]:
    answer = client.post("/retrieve", json={"query": question, "top_k": 20})
    assert answer.status_code == 200, answer.text
    record: dict[str, Any] = answer.json()
    return record


SEEN = {
    "guest": set(),
    "staff": {FOLDER, PAGE},
    "treasury": {FOLDER, PAGE, SHEET},
    "owner": {FOLDER, PAGE, SHEET},
}
SHEET_QUESTION = f"{QUESTION} What does the table of the sheet of the European Union say?"


@pytest.mark.parametrize("reader", SEEN)
def test_each_token_finds_what_its_groups_may_see(service: str, reader: str) -> None:
    with as_reader(service, reader) as client:
        assert paths_of(asked(client, SHEET_QUESTION)) == SEEN[reader]
        feed = client.get("/changes", params={"since": 0}).text
    for part in (FOLDER, SHEET, PAGE):
        assert (part in feed) == (part in SEEN[reader])


def test_who_has_no_token_finds_nothing(service: str) -> None:
    with httpx.Client(base_url=service, timeout=60) as client:
        assert client.post("/retrieve", json={"query": QUESTION}).status_code == 401
        assert client.get("/healthz").status_code == 200
    with as_reader(service, "stranger") as client:
        assert client.post("/retrieve", json={"query": QUESTION}).status_code == 401
    with as_reader(service, "staff") as client:
        assert client.get("/metrics").status_code == 404  # which counts the documents of the whole index


def test_ids_pictures_and_files_of_what_is_hidden_are_not_there(service: str, site: Site) -> None:
    with as_reader(service, "treasury") as client:
        found = asked(client, SHEET_QUESTION)["evidence"]
        chunk = next(one for one in found if one["file_path"].startswith(SHEET))
        picture = client.get(f"/chunks/{chunk['chunk_id']}/page.png")
        assert picture.headers["content-type"] == "image/png"
    hidden = (
        f"/chunks/{chunk['chunk_id']}",
        f"/chunks/{chunk['chunk_id']}/page.png",
        f"/chunks/{chunk['chunk_id']}/history",
        f"/documents/{chunk['doc']}",
    )
    with as_reader(service, "staff") as client:
        assert {client.get(path).status_code for path in hidden} == {404}
    for audience in ("public", "staff"):
        kept = {path.name for path in (site.index / "audiences" / audience / "raw").rglob("*.zst")}
        assert f"{sha256((site.files / 'sheets/eu-001.pdf').read_bytes()).hexdigest()}.zst" not in kept


@pytest.mark.parametrize("reader", ["guest", "staff"])
def test_a_browser_that_signed_in_sees_pages_of_its_groups(service: str, reader: str) -> None:
    with httpx.Client(base_url=service, headers={"Accept": "text/html"}, timeout=60) as browser:
        assert browser.get("/search", params={"q": QUESTION}).status_code == 401
        assert browser.post("/login", data={"token": reader}).status_code == 303
        page = browser.get("/search", params={"q": QUESTION})
        assert page.status_code == 200
        assert ("treasurer" in page.text) == (PAGE in SEEN[reader])
        assert browser.post("/login", data={"token": "stranger"}).status_code == 401


@contextmanager
def agent_of(service: str, reader: str) -> Iterator[AgentClient]:
    """The library's client at /mcp, with a token."""
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {reader}"}, timeout=60)
    with connected(streamable_http_client(f"{service}/mcp", http_client=http)) as agent:
        yield agent


@pytest.mark.parametrize("reader", ["guest", "staff"])
def test_an_agent_finds_what_its_token_may_see(service: str, reader: str) -> None:
    with agent_of(service, reader) as agent:
        found = json.dumps(agent.ask("retrieve", query="Who signs the tariff of the plan?"))
    assert ("treasurer" in found) == (PAGE in SEEN[reader])


def test_an_agent_over_stdio_is_of_the_groups_that_started_it(site: Site) -> None:
    for groups in ("public", "staff"):
        with connected(over_stdio(site.index, SITEGRAPH_GROUPS=groups)) as agent:
            found = json.dumps(agent.ask("retrieve", query="Who signs the tariff of the plan?"))
        assert ("treasurer" in found) == (groups == "staff")


def test_commands_and_python_read_as_readers_of_groups(sitegraph: Sitegraph, site: Site) -> None:
    def seen(*options: str) -> set[str]:
        done = sitegraph.call(
            "query", SHEET_QUESTION, "--top-k", "20", "--index", str(site.index), "--format", "json", *options
        )
        assert done.returncode == 0, done.stderr
        return paths_of(json.loads(done.stdout))

    assert seen() == SEEN["owner"]
    assert seen("--groups", "public") == SEEN["guest"]
    assert seen("--groups", "staff,hr") == SEEN["treasury"]
    with api.open(site.index, groups=("staff",)) as opened:
        assert {one.file_path for one in opened.retrieve("tariff of the plan").evidence} & {PAGE}
    with api.open(site.index, groups=()) as opened:
        assert not {one.file_path for one in opened.retrieve("tariff of the plan").evidence} & {PAGE}
    with pytest.raises(ConfigError, match=r"no audience hr; this index has: hr\+staff, public, staff"):
        api.open(site.index, groups=("hr",))
    done = _retrieval("--query", QUESTION, "--index", str(site.index), "--groups", "public", "--top-k", "20")
    assert done.returncode == 0, done.stderr
    assert "treasurer" not in done.stdout
    refused = sitegraph.call("ask", QUESTION, "--index", str(site.index), "--groups", "nobody")
    assert refused.returncode == 2
    assert "build it with: sitegraph audiences --add nobody --index" in refused.stderr


def _retrieval(*arguments: str) -> subprocess.CompletedProcess[str]:

    command = [sys.executable, "-m", "retrieval", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_service_without_tokens_gives_what_is_public(site: Site) -> None:
    with (
        running(site.index, "--workers", "1") as (_, port),
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
    ):
        assert paths_of(asked(client, SHEET_QUESTION)) == set()
