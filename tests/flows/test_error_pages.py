"""Error pages that a site sends with 200: readers keep the good version, and the report says why."""

import json
from pathlib import Path

import pytest

from tests.fakes.handbook import Handbook, path_of, write_source
from tests.fakes.site_server import Ask, Reply
from tests.fakes.sitegraph_runs import Sitegraph, outcomes

pytestmark = pytest.mark.server

SAMPLES = Path(__file__).parents[1] / "quality" / "error_pages"
TROUBLE = {
    "Leases": ("development/laravel-trace.html", "a debug page of a framework"),
    "Ledgers": ("development/maintenance-en.html", "a maintenance notice"),
    "Readers": ("development/tomcat-500.html", "a debug page of a framework"),
    "Vectors": ("development/akamai-denied.html", "a page of a firewall or bot check"),
}


def sample(name: str) -> Reply:
    return Reply((SAMPLES / name).read_bytes())


def problems(report: dict[str, object]) -> dict[str, str]:
    """Reasons by address, of pages that were put aside."""
    found: list[dict[str, str]] = report["problems"]  # type: ignore[assignment]
    return {p["url"]: p["reason"] for p in found if p["reason"].startswith("quarantined: ")}


def answers(sitegraph: Sitegraph, index: Path, question: str) -> list[str]:
    """Texts of the passages that the command finds."""
    done = sitegraph.call("query", question, "--index", str(index), "--format", "json")
    assert done.returncode == 0, done.stderr
    return [passage["text"] for passage in json.loads(done.stdout)["evidence"]]


def test_good_pages_outlive_error_pages_and_come_back(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    good = dict(handbook.site.pages)
    before = sitegraph.export(index)
    for topic, (name, _) in TROUBLE.items():
        handbook.site.pages[path_of(topic)] = sample(name)

    report = sitegraph.run(source, index)

    assert outcomes(report) == {"quarantined": 4, "unchanged": 6}
    addresses = {handbook.site.url(path_of(topic)): why for topic, (_, why) in TROUBLE.items()}
    assert problems(report) == {address: f"quarantined: {why}" for address, why in addresses.items()}
    assert sitegraph.export(index) == before
    assert "leases are lost" in " ".join(answers(sitegraph, index, "What happens when leases are lost?"))
    assert not any("Illuminate" in text for text in answers(sitegraph, index, "Undefined variable $invoices"))
    told = sitegraph.call("why", handbook.site.url(path_of("Ledgers")), "--index", str(index))
    assert "quarantined (HTTP 200, a maintenance notice)" in told.stdout

    handbook.site.pages = good
    again = sitegraph.run(source, index)
    assert outcomes(again) == {"unchanged": 10}
    assert again["problems"] == []


def test_pages_that_change_to_one_text_are_held_whatever_it_says(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    """Five of ten, each with its own address in a text about herons that looks like any other page."""
    good, before = dict(handbook.site.pages), sitegraph.export(index)
    changed = ("/leases.html", "/ledgers.html", "/readers.html", "/vectors.html", "/batches.html")
    handbook.site.pages |= dict.fromkeys(changed, herons)

    report = sitegraph.run(source, index)

    assert outcomes(report) == {"quarantined": 5, "unchanged": 5}
    reason = "quarantined: changed to one text together with other pages, such as "
    assert all(why.startswith(reason) for why in problems(report).values())
    assert len(problems(report)) == 5
    assert sitegraph.export(index) == before
    assert not any("herons" in text for text in answers(sitegraph, index, "Where do herons1 nest?"))

    accepted = sitegraph.run(source, index, accept=True)
    assert accepted["documents"]["quarantined"] == 0
    assert any("herons" in row["text"] for row in sitegraph.export(index)["chunks"])
    handbook.site.pages = good


def herons(ask: Ask) -> Reply:
    """A page of a hundred words about herons, which names its own address."""
    text = " ".join(
        f"The herons{n} of pond{n} nest{n} in alder{n} and fish{n} at dawn{n}." for n in range(12)
    )
    page = f"<html><head><title>Herons</title></head><body><main><h1>Herons</h1><p>{text}</p>"
    return Reply(f"{page}<p>{ask.path}</p><a href='/index.html'>Handbook</a></main></body></html>".encode())


def test_a_page_that_the_source_file_exempts_is_taken_as_it_is(
    sitegraph: Sitegraph, handbook: Handbook, tmp_path: Path, index: Path
) -> None:
    handbook.site.pages["/readers.html"] = sample("development/maintenance-en.html")
    exempt = f"quarantine: {{exempt: ['{handbook.site.url('/r')}*']}}\n"

    report = sitegraph.run(write_source(tmp_path, handbook, more=exempt), index)

    assert outcomes(report) == {"changed": 1, "unchanged": 9}
