"""Dates, from a server, a sitemap, pages, a PDF and files to the filter that somebody asks with."""

import functools
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from runtime.clock import SystemClock
from tests.fakes.pdfs import heading, new_pdf, prose
from tests.fakes.sitegraph_runs import Rows, Sitegraph, sitegraph_here

WORDS = (
    "The caretaker of the depot counts the pallets each evening, writes their number into the book that lies "
    "beside the gate, and locks the doors before he walks home along the canal."
)
QUESTION = "what is written down before the next step begins"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "site"
    root.mkdir()
    write(
        root / "index.html",
        "Start",
        links=("served", "claimed", "stated", "footer", "future"),
        day="2018-01-01",
    )
    write(root / "served.html", "Served", day="2021-02-03")
    write(root / "claimed.html", "Claimed", day="2021-02-03")
    write(root / "stated.html", "Stated", head=modified("2023-06-07T01:00:00+02:00"), day="2021-02-03")
    write(root / "footer.html", "Footer", foot="Last updated on May 3, 2024.", day="2025-01-01")
    write(root / "future.html", "Future", head=modified("2099-01-01"), day="2020-01-01")
    document = new_pdf([[heading("Manual")]])
    document.set_metadata({"title": "Manual", "modDate": "D:20220304050607+01'00'"})
    (root / "manual.pdf").write_bytes(document.tobytes())
    return root


def write(
    path: Path, title: str, *, day: str, head: str = "", foot: str = "", links: tuple[str, ...] = ()
) -> None:
    """Write a page, last changed on *day* as far as its server can tell."""
    to = "".join(f"<a href={name}.html>{name}</a> " for name in links)
    path.write_text(
        f"<html lang=en><head><title>{title}</title>{head}</head><body><main><h1>{title}</h1><p>"
        f"{prose(title)} {to}<a href=manual.pdf>the manual</a></p></main><p>{foot}</p></body></html>"
    )
    moment = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    os.utime(path, (moment, moment))


def modified(at: str) -> str:
    return f"<meta property='article:modified_time' content='{at}'>"


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder as Python does, with Last-Modified and 304; give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def source(folder: Path, tmp_path: Path) -> Iterator[Path]:
    with served(folder) as address:
        site = f"http://{address}/"
        urls = "".join(
            f"<url><loc>{site}{name}</loc><lastmod>{day}</lastmod></url>"
            for name, day in (("claimed.html", "2022-03-04T05:06:07+02:00"), ("stated.html", "2025-01-01"))
        )
        (folder / "sitemap.xml").write_text(
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
        )
        path = tmp_path / "depot.yaml"
        path.write_text(
            f"name: depot\nkind: web\nseeds: ['{site}']\nallow_private: ['{address}']\n"
            f"scope: {{include: ['{site}**']}}\nrate: {{per_host_delay: 0}}\n"
        )
        yield path


def dates_of(rows: Rows) -> dict[str, tuple[str, str]]:
    return {row["title"]: (row["last_modified"], row["last_modified_origin"]) for row in rows}


@pytest.mark.server
def test_a_site_is_asked_by_its_dates_and_a_new_date_alone_embeds_nothing(
    sitegraph: Sitegraph, folder: Path, source: Path, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    sitegraph.run(source, index)

    exported = sitegraph.export(index, stable=False)
    assert dates_of(exported["documents"]) == {
        "Start": ("2018-01-01T00:00:00+00:00", "http"),
        "Served": ("2021-02-03T00:00:00+00:00", "http"),
        "Claimed": ("2022-03-04T03:06:07+00:00", "sitemap"),
        "Stated": ("2023-06-06T23:00:00+00:00", "meta"),
        "Footer": ("2024-05-03T00:00:00+00:00", "text"),
        "Future": ("2020-01-01T00:00:00+00:00", "http"),
        "Manual": ("2022-03-04T04:06:07+00:00", "pdf"),
    }

    def found(*bounds: str) -> dict[str, tuple[str, float]]:
        filters = [part for bound in bounds for part in ("--filter", f"last_modified{bound}")]
        asked = ("query", QUESTION, "--index", str(index), "--top-k", "50", "--format", "json", *filters)
        done = sitegraph.call(*asked)
        assert done.returncode == 0, done.stderr
        evidence = json.loads(done.stdout)["evidence"]
        return {
            (one["section"] or ""): (one["last_modified_origin"], one["scores"]["freshness"])
            for one in evidence
        }

    assert found(">=2099-01-01") == {}
    assert found("=2018-01-01").keys() == {"Start"}
    assert found("<2018-01-02").keys() == {"Start"}
    assert found("=2020").keys() == {"Future"}
    assert found(">=2023-06-07").keys() == {"Footer"}
    claimed, stated = found(">=2022-03-04", "<2022-03-04T05:06:08+02:00"), found("=2023-05..2023-06")
    assert {**claimed, **stated}.keys() == {"Claimed", "Stated"}
    assert (claimed["Claimed"][0], stated["Stated"][0]) == ("sitemap", "meta")
    assert 0 < claimed["Claimed"][1] < stated["Stated"][1] < 0.5

    stable = sitegraph.export(index, stable=True)
    write(
        folder / "stated.html", "Stated", head=modified("2025-09-09"), day="2026-01-01"
    )  # says another date
    write(
        folder / "footer.html", "Footer", foot="Last updated on May 4, 2026.", day="2026-01-01"
    )  # built again
    write(folder / "served.html", "Served", day="2026-01-01")  # deployed again
    report = sitegraph.run(source, index)
    assert report["generation"] == 2
    assert report["documents"]["changed"] == 0
    assert report["chunks"]["embedded"] == 0
    dates = dates_of(sitegraph.export(index, stable=False)["documents"])
    assert dates["Stated"] == ("2025-09-09T00:00:00+00:00", "meta")
    assert dates["Footer"] == ("2024-05-03T00:00:00+00:00", "text")
    assert dates["Served"] == ("2021-02-03T00:00:00+00:00", "http")
    assert found(">=2025-09-09").keys() == {"Stated"}
    assert sitegraph.export(index, stable=True) == stable
    assert sitegraph.run(source, index)["generation"] is None


@pytest.mark.server
def test_files_are_dated_by_their_front_matter_else_by_the_file(sitegraph: Sitegraph, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "stated.md").write_text(f"---\nlast_update:\n  date: 2024-05-03\n---\n# Stated\n\n{WORDS}\n")
    (notes / "decided.md").write_text(f"---\ndate: 2023-05-03 10:00:00 +0200\n---\n# Decided\n\n{WORDS}\n")
    (notes / "wrong.md").write_text(f"---\nid: W-1\nupdated: 2024-13-45\n---\n# Wrong\n\n{WORDS}\n")
    for path in notes.iterdir():
        moment = datetime(2022, 2, 2, tzinfo=UTC).timestamp()
        os.utime(path, (moment, moment))
    source = tmp_path / "notes.yaml"
    source.write_text("name: notes\nkind: files\nroots: [notes]\n")

    sitegraph.run(source, tmp_path / "index")

    exported = sitegraph.export(tmp_path / "index", stable=False)
    assert dates_of(exported["documents"]) == {
        "Stated": ("2024-05-03T00:00:00+00:00", "front_matter"),
        "Decided": ("2023-05-03T08:00:00+00:00", "published"),
        "Wrong": ("2022-02-02T00:00:00+00:00", "file"),
    }
    assert {row["doc_id"] for row in exported["documents"]} == {None, "W-1"}
    of_chunks = {(row["section"], row["last_modified_origin"]) for row in exported["chunks"]}
    assert of_chunks == {("Stated", "front_matter"), ("Decided", "published"), ("Wrong", "file")}


def test_a_clock_set_back_a_day_makes_no_generation_older_than_its_predecessor(tmp_path: Path) -> None:
    """Nor is the last run an earlier one, and each run says what is wrong."""
    program, index, source = sitegraph_here(), tmp_path / "index", tmp_path / "notes.yaml"
    (tmp_path / "notes").mkdir()
    source.write_text("name: notes\nkind: files\nroots: [notes]\n")
    days, real = [0, -1, -1, 0.5], SystemClock.now
    reports, as_of = [], []
    for number, day in enumerate(days):
        (tmp_path / "notes/page.md").write_text(f"# Page\n\nIt was written {number} times.\n")
        with mock.patch.object(SystemClock, "now", lambda self, day=day: real(self) + timedelta(days=day)):
            reports.append(program.run(source, index))
            status = json.loads(program.call("status", "--index", str(index), "--format", "json").stdout)
            as_of.append(status["as_of"])
            assert status["sources"]["notes"]["last_run"]["generation"] == number + 1

    assert as_of == sorted(as_of)
    assert as_of[2] < as_of[3]
    told = [[p["reason"] for p in report["problems"] if p["url"] == "clock"] for report in reports]
    assert [bool(one) for one in told] == [False, True, True, False]
    assert told[1][0].startswith("24.0 hours behind the latest time in the index")
