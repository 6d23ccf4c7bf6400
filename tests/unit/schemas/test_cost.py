"""What a run spent, settled by cause: nothing is lost, and nothing counts twice."""

from schemas.cost import Cause, Costs, Spent, settle, total_of
from schemas.records import from_record, to_record
from schemas.report import ChunkCounts, HttpTotals, PeakRss, RunReport


def seconds(cpu: float) -> Spent:
    return Spent(cpu=cpu)


def test_what_no_cause_is_known_of_is_other_and_all_together_are_the_total() -> None:
    costs = Costs(total=Spent(cpu=10, read=70), causes={"fetch": Spent(cpu=2, read=50), "embed": seconds(5)})

    causes = settle(costs)

    assert causes["other"] == Spent(cpu=3, read=20)
    assert total_of(causes) == costs.total
    assert list(causes) == ["fetch", "embed", "other"]


def test_a_cause_that_cost_nothing_is_left_out() -> None:
    assert "link" not in settle(Costs(total=seconds(1), causes={"link": seconds(0)}))


def test_workers_of_this_machine_count_once_and_what_they_do_not_tell_is_other() -> None:
    costs = Costs(total=seconds(10), workers=seconds(8), told={"parse": seconds(6)})

    assert settle(costs) == {"parse": seconds(6), "other": seconds(4)}


def test_what_workers_of_other_machines_tell_comes_on_top() -> None:
    assert settle(Costs(total=seconds(2), told={"parse": seconds(6)})) == {
        "parse": seconds(6),
        "other": seconds(2),
    }


def test_a_run_counts_from_where_it_began() -> None:
    before = Costs(total=seconds(4), causes={"link": seconds(3)}, rows={"chunks": 5})
    after = Costs(total=seconds(9), causes={"link": seconds(4), "diff": seconds(2)}, rows={"chunks": 7})

    since = after - before

    assert settle(since) == {"diff": seconds(2), "link": seconds(1), "other": seconds(2)}
    assert since.rows == {"chunks": 2}


def test_every_cause_is_in_the_contract_of_the_report() -> None:
    with open("docs/reference/run-report.md", encoding="utf-8") as manual:
        text = manual.read().partition("## Cost")[2]

    assert [cause for cause in Cause if f"`{cause}`" not in text] == []


def test_a_report_of_an_older_version_is_read_and_has_no_cost() -> None:
    report = RunReport(
        source="notes",
        run_id="r",
        generation=1,
        published=True,
        documents={},
        chunks=ChunkCounts(),
        nodes={},
        edges={},
        http=HttpTotals(),
        stages={},
        peak_rss_mb=PeakRss(flow=1, largest_child=1, sum=2),
    )
    old = {name: value for name, value in to_record(report).items() if name != "cost"}

    assert from_record(RunReport, old) == report
    assert report.cost.causes == {}
