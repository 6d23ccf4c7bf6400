"""`sitegraph status`: what a person reads."""

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from indexes.layout import IndexLayout
from indexes.stores.ledger.ledger import open_ledger
from schemas.documents import KnownDocument
from schemas.source import Freshness, Source
from sitegraph.cli.app import run_app

NOW = "2030-01-01T00:00:00+00:00"


@pytest.mark.parametrize(("problems", "said"), [(0, "0 problems"), (1, "1 problem"), (2, "2 problems")])
def test_the_last_run_is_told_with_its_number_of_problems(
    problems: int, said: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = Path(shutil.copytree(folder, tmp_path / "index", ignore=shutil.ignore_patterns("encoder")))
    with closing(open_ledger(f"sqlite:///{IndexLayout(index).ledger}")) as ledger:
        ledger.documents.save([KnownDocument(source="manual", uri="https://docs.example.org/")])
        ledger.runs.start("run-2", source="manual", now=NOW)
        found = [
            {"url": f"https://docs.example.org/{number}", "reason": "HTTP 500"} for number in range(problems)
        ]
        ledger.runs.finish("run-2", state="finished", now=NOW, report={"problems": found})

    assert run_app(["status", "--index", str(index)]) == 0

    assert f"last run finished at {NOW}, {said}\n" in capsys.readouterr().out


def test_a_wrong_rule_of_what_is_kept_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SITEGRAPH_KEEP", "hourly=3")

    assert run_app(["status", "--index", str(folder)]) == 2

    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "SITEGRAPH_KEEP: 'hourly=3' is not a rule; write, with commas between, within=7d" in err


def test_a_refused_run_is_told_with_its_reason_and_its_problems_by_kind(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = Path(shutil.copytree(folder, tmp_path / "index", ignore=shutil.ignore_patterns("encoder")))
    found = [{"url": f"https://docs.example.org/{n}", "reason": "missing: HTTP 404"} for n in range(49)]
    with closing(open_ledger(f"sqlite:///{IndexLayout(index).ledger}")) as ledger:
        ledger.runs.start("run-2", source="manual", now=NOW)
        ledger.runs.finish(
            "run-2", state="refused", now=NOW, report={"reason": "49 of 77 away", "problems": found}
        )

    assert run_app(["status", "--index", str(index)]) == 0

    told = capsys.readouterr().out
    assert f"last run refused at {NOW}, 49 problems\n    because 49 of 77 away\n" in told
    assert "      49 x missing: HTTP 404: https://docs.example.org/0 …\n" in told


@pytest.mark.parametrize(("slo", "word"), [(None, None), (3600.0, "STALE"), (1e10, "fresh")])
def test_a_source_with_an_slo_is_told_fresh_or_stale(
    slo: float | None, word: str | None, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = Path(shutil.copytree(folder, tmp_path / "index", ignore=shutil.ignore_patterns("encoder")))
    long_ago = "2020-01-01T00:00:00+00:00"
    with closing(open_ledger(f"sqlite:///{IndexLayout(index).ledger}")) as ledger:
        ledger.documents.save([KnownDocument(source="manual", uri="https://docs.example.org/")])
        ledger.sources.save(Source(name="manual", kind="web", freshness=Freshness(slo=slo)))
        ledger.runs.start("run-2", source="manual", now=long_ago)
        ledger.runs.finish("run-2", state="finished", now=long_ago, report={"problems": []})

    assert run_app(["status", "--index", str(index)]) == 0
    told = capsys.readouterr().out
    assert run_app(["status", "--index", str(index), "--format", "json"]) == 0
    freshness = json.loads(capsys.readouterr().out)["sources"]["manual"]["freshness"]

    assert (freshness["slo"], freshness["as_of"]) == (slo, long_ago)
    assert freshness["stale"] is (word == "STALE")
    if word is None:
        assert "SLO" not in told
    else:
        assert f"    {word}: last good run " in told


def test_events_are_not_sent_to_nowhere(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    assert run_app(["status", "--index", str(folder), "--emit-events"]) == 2
    assert "needs a Prefect server; set PREFECT_API_URL" in capsys.readouterr().err


def test_events_to_a_server_that_does_not_answer_are_an_error(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")

    assert run_app(["status", "--index", str(folder), "--emit-events"]) == 3
    assert "does not answer" in capsys.readouterr().err


def test_leases_are_told_with_their_process_and_since_when(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = Path(shutil.copytree(folder, tmp_path / "index", ignore=shutil.ignore_patterns("encoder")))
    with closing(open_ledger(f"sqlite:///{IndexLayout(index).ledger}")) as ledger:
        ledger.runs.start("run-2", source="manual", now=NOW)
        ledger.runs.note("run-2", {"reason": "stopped", "problems": []})
        later = "2999-01-01T00:00:00+00:00"
        ledger.leases.acquire("index", holder="crawler-2/4026:4711:99", now=NOW, expires_at=later)

    assert run_app(["status", "--index", str(index)]) == 0
    told = capsys.readouterr().out
    assert run_app(["status", "--index", str(index), "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)

    assert f"lease index: held by process 4711 on crawler-2 since {NOW}\n" in told
    assert f"last run interrupted since {NOW}, 0 problems\n    because stopped\n" in told
    assert (record["leases"][0]["pid"], record["leases"][0]["machine"]) == (4711, "crawler-2")
    assert record["sources"]["manual"]["last_run"]["reason"] == "stopped"
