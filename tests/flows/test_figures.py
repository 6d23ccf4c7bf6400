"""Figures of PDFs that other programs wrote, by their captions, over HTTP and MCP, for who may see them."""

import base64
import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pymupdf
import pytest
from mcp.client.streamable_http import streamable_http_client

from tests.fakes.mcp_clients import connected
from tests.fakes.running_service import running
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]

PDFS = Path(__file__).parents[1] / "golden" / "documents" / "pdf"
FLAG, BELL = "Figure 1: The flag for a pilot on board.", "Figure 1: The bell, seen from below."


@pytest.fixture(scope="module")
def service(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service over a PDF by WeasyPrint that all may see, and one by Cairo that the crew may."""
    folder = tmp_path_factory.mktemp("figures")
    for name, place in (("weasyprint-two-columns.pdf", "open"), ("cairo-drawing.pdf", "crew")):
        (folder / "files" / place).mkdir(parents=True)
        shutil.copy(PDFS / name, folder / "files" / place)
    source, index, tokens = folder / "harbour.yaml", folder / "index", folder / "tokens.yaml"
    source.write_text("name: harbour\nkind: files\nroots: [files]\naccess:\n  paths:\n    'crew/*': [crew]\n")
    for command in (
        ("run", str(source), "--index", str(index), "--quiet"),
        ("audiences", "--index", str(index), "--add", "crew", "--quiet"),
    ):
        done = sitegraph.call(*command)
        assert done.returncode == 0, done.stderr
    readers = [
        {"name": name, "sha256": sha256(name.encode()).hexdigest(), "groups": groups}
        for name, groups in (("guest", []), ("sailor", ["crew"]))
    ]
    tokens.write_text(json.dumps({"tokens": readers}))
    with running(index, "--workers", "1", SITEGRAPH_TOKENS=str(tokens)) as (_, port):
        yield f"http://127.0.0.1:{port}"


def as_reader(service: str, name: str) -> httpx.Client:
    return httpx.Client(base_url=service, headers={"Authorization": f"Bearer {name}"}, timeout=60)


def found(client: httpx.Client, text: str) -> dict[str, Any]:
    """The evidence that says just *text*, for a question of its words."""
    bundle = client.post("/retrieve", json={"query": text, "top_k": 20}).json()
    evidence: dict[str, Any] = next(one for one in bundle["evidence"] if one["text"] == text)
    return evidence


def colours(png: bytes) -> set[tuple[int, ...]]:
    picture = pymupdf.Pixmap(png)
    return {picture.pixel(x, y) for x in range(picture.width) for y in range(picture.height)}


def test_the_caption_of_a_figure_leads_to_the_figure_alone(service: str) -> None:
    with as_reader(service, "sailor") as client:
        caption = found(client, FLAG)
        answer = client.get(f"/chunks/{caption['chunk_id']}/figure.png")
        page = client.get(f"/chunks/{caption['chunk_id']}/page.png")

    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    figure, whole = pymupdf.Pixmap(answer.content), pymupdf.Pixmap(page.content)
    # 140 x 100 points and 4 on each side, at the resolution of the page.
    assert (figure.width, figure.height) == pytest.approx((148 * 110 / 72, 108 * 110 / 72), abs=2)
    assert figure.width < whole.width / 2
    assert (255, 0, 0) not in colours(answer.content)  # no box is drawn into it
    assert len(colours(answer.content)) > 2


def test_a_passage_that_tells_of_no_figure_has_none(service: str) -> None:
    with as_reader(service, "guest") as client:
        document = found(client, BELL)["doc"]
        ids = [one["id"] for one in client.get(f"/documents/{document}").json()["chunks"]]
        answers = [client.get(f"/chunks/{id_}/figure.png") for id_ in ids]

    assert [answer.status_code for answer in answers].count(200) == 1
    other = next(answer for answer in answers if answer.status_code != 200)
    assert other.status_code == 404
    assert "neither the caption of a figure" in other.json()["detail"]


def test_who_may_not_see_a_document_gets_no_figure_of_it(service: str) -> None:
    with as_reader(service, "sailor") as client:
        hidden = found(client, FLAG)["chunk_id"]
    with as_reader(service, "guest") as client:
        answer = client.get(f"/chunks/{hidden}/figure.png")
        shown = client.get(f"/chunks/{found(client, BELL)['chunk_id']}/figure.png")
    assert (answer.status_code, shown.status_code) == (404, 200)
    assert "has no chunk" in answer.json()["detail"]


def test_an_agent_reads_the_figure_that_http_gives(service: str) -> None:
    with as_reader(service, "sailor") as client:
        chunk = found(client, FLAG)["chunk_id"]
        png = client.get(f"/chunks/{chunk}/figure.png").content
    http = httpx2.AsyncClient(headers={"Authorization": "Bearer sailor"}, timeout=60)
    with connected(streamable_http_client(f"{service}/mcp", http_client=http)) as agent:
        read = agent.read(f"sitegraph://chunk/{chunk.removeprefix('chunk:')}/figure.png")
    assert (read.mime_type, base64.b64decode(read.blob)) == ("image/png", png)
