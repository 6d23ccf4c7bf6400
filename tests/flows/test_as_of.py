"""Pages of a real site, edited between three runs: each past is what it was when it was the present."""

import json
from pathlib import Path
from typing import Any

import pytest

from sitegraph.cli.demo_script import serve_folder
from tests.fakes.graph_places import Place, place
from tests.fakes.real_sites import unpack

pytestmark = [pytest.mark.data, pytest.mark.long, pytest.mark.timeout(600)]
__all__ = ["place"]

PAGES = 4
RUNS = 3
QUESTIONS = ("How do I install requests?", "What does the vault say of visits?")


def test_every_kept_generation_answers_and_exports_as_it_did(place: Place, tmp_path: Path) -> None:
    html = next(unpack("sites/requests.tar.xz", "", tmp_path / "site").rglob("index.html")).parent
    page, then = html / "index.html", {}
    with serve_folder(html) as address:
        source = tmp_path / "requests.yaml"
        source.write_text(
            f"name: requests\nkind: web\nseeds: ['http://{address}/index.html']\n"
            f"allow_private: ['{address}']\nrate: {{per_host_delay: 0}}\nscope: {{max_pages: {PAGES}}}\n"
        )
        for number in range(1, RUNS + 1):
            before = f"<p>The vault has {number - 1} visits.</p>"
            page.write_text(page.read_text().replace(before, "").replace("<p>", before_of(number), 1))
            assert place.program.run(source, place.index).generation == number
            then[number] = (answers(place), exported(place))
    assert len({json.dumps(one) for one in then.values()}) == RUNS

    for number, (answered, rows) in then.items():
        assert answers(place, "--as-of", str(number)) == answered
        assert exported(place, "--generation", str(number)) == rows
        shown = {row["id"]: row["text"] for row in rows["chunks"]}
        evidence = [one for bundle in answered for one in bundle["evidence"]]
        assert any(f"The vault has {number} visits." in one["text"] for one in evidence)
        assert all(shown[one["chunk_id"]] == one["text"] for one in evidence)


def before_of(number: int) -> str:
    """A passage that one edition alone has, and the paragraph that it stands before."""
    return f"<p>The vault has {number} visits.</p><p>"


def answers(place: Place, *options: str) -> list[dict[str, Any]]:
    """Bundles of the questions."""
    return [said(place, "query", question, "--format", "json", *options) for question in QUESTIONS]


def exported(place: Place, *options: str) -> dict[str, list[dict[str, Any]]]:
    """Stable rows of each table."""
    rows = {}
    for table in ("documents", "nodes", "edges", "chunks"):
        done = place.program.call(
            "export", "--index", str(place.index), "--what", table, "--stable", *options
        )
        rows[table] = [json.loads(line) for line in done.stdout.splitlines()]
        assert rows[table], done
    return rows


def said(place: Place, *arguments: str) -> dict[str, Any]:
    """What a command says as JSON."""
    done = place.program.call(*arguments, "--index", str(place.index))
    assert done.returncode == 0, done
    told: dict[str, Any] = json.loads(done.stdout)
    return told
