"""A run's report in words: the sums are right, and the words are plain."""

import re

from schemas.cost import CostAccount, RowsTouched, Spent
from schemas.documents import Outcome
from schemas.records import to_record
from schemas.report import ChunkCounts, HttpTotals, MissingCounts, PeakRss, RunReport
from sitegraph.cli.run_text import render_report

OUTCOMES = {outcome.value: number for number, outcome in enumerate(Outcome, start=1)}


def text(**changed: object) -> list[str]:
    report = RunReport(
        **{
            "source": "handbook",
            "run_id": "r",
            "generation": 7,
            "published": True,
            "documents": {"scheduled": sum(OUTCOMES.values()), "fetched": 5, "not_modified": 9, **OUTCOMES},
            "chunks": ChunkCounts(added=2, removed=1, unchanged=40, embedded=3),
            "nodes": {},
            "edges": {},
            "http": HttpTotals(),
            "stages": {"crawl": 0.8},
            "peak_rss_mb": PeakRss(flow=1, largest_child=1, sum=2),
            **changed,
        }
    )
    return list(render_report(to_record(report)))


def test_what_became_of_the_documents_adds_up_to_what_was_looked_at() -> None:
    line = next(line for line in text() if line.startswith("  documents"))
    total, parts = line.split(";")[0].split(" = ")
    numbers = [int(number) for number in re.findall(r"(?:^|\+ )(\d+)", parts)]
    assert len(numbers) == len(Outcome)
    assert sum(numbers) == int(re.search(r"\d+", total)[0])  # type: ignore[index]
    assert line.endswith("of these 9 not sent again (304)")


def test_chunks_add_up() -> None:
    assert "  chunks     42 = 2 new + 40 unchanged; 1 removed" in text()


def test_missing_pages_say_until_when_they_stay_and_how_to_remove_them() -> None:
    lines = text(missing=MissingCounts(documents=3, until="2026-01-02T03:04:05+00:00"))
    assert (
        "  missing    3 stay as they were, and go if still not found after 2026-01-02T03:04:05+00:00; "
        "to remove them now: sitegraph run SOURCE.yaml --accept"
    ) in lines


def test_a_run_without_requests_says_nothing_of_http() -> None:
    assert not any("http" in line for line in text())


def test_what_a_run_cost_is_one_line_with_the_dearest_causes_first() -> None:
    cost = CostAccount(
        total=Spent(cpu=6.5),
        causes={"fetch": Spent(cpu=0.5), "embed": Spent(cpu=6)},
        rows={"documents": RowsTouched(touched=3, there=12), "chunks": RowsTouched(touched=4, there=1042)},
    )

    said = (
        "6.5 CPU seconds (embed 6.0, fetch 0.5); 3 of 12 documents linked, "
        "4 of 1,042 chunks written for their text, date or place"
    )
    assert f"  cost       {said}" in text(cost=cost)


def test_a_report_without_an_account_says_nothing_of_cost() -> None:
    assert not [line for line in text() if line.startswith("  cost")]
