"""Where nothing answers, every interface says what was searched, and what may hide the answer."""

import json
from pathlib import Path

import pytest

import sitegraph as library
from tests.fakes.handbook import Handbook, path_of, write_source
from tests.fakes.site_server import Reply
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server

UNANSWERED = "How much does a helicopter cost in Brazil?"


def test_every_door_says_what_was_searched_in_vain(
    sitegraph: Sitegraph, handbook: Handbook, index: Path, tmp_path: Path
) -> None:
    source = write_source(tmp_path, handbook, more="scope: {exclude: ['*/guards.html']}\n")
    handbook.site.pages[path_of("Tokens")] = Reply(b"", 500)
    handbook.edit(path_of("Leases"), "Losing Leases", "Whoever loses a lease pays the porter a silver coin.")
    report = sitegraph.run(source, index, accept=True)
    assert (report["documents"]["failed"], report["documents"]["out_of_scope"]) == (1, 1)

    asked = sitegraph.call("ask", UNANSWERED, "--index", str(index), "--format", "json")
    told = sitegraph.call("ask", UNANSWERED, "--index", str(index))
    filtered = ("query", "Where are leases kept?", "--index", str(index), "--filter", "doc_type=novel")
    found = sitegraph.call(*filtered, "--format", "json")

    absence = json.loads(asked.stdout)["absence"]
    assert absence["generation"] == 2
    assert absence["searched"]["handbook"]["documents"] == 9
    assert "helicopter" in absence["unknown"]
    assert absence["needed"] > max(one["value"] for one in absence["near"])
    assert absence["hidden"]["set_aside"] == {"handbook": 1}
    assert absence["hidden"]["examples"][0]["uri"].endswith("/tokens.html")
    assert absence["hidden"]["left_out"] == {"handbook": {"out of scope": 1}}
    assert "Searched: handbook (9 documents, " in told.stdout
    for near in absence["near"]:
        assert told.stdout.count(near["citation"]) == 1
    assert "logit" not in told.stdout
    assert "1 failed or in quarantine, 1 out of scope" in told.stdout
    absence = json.loads(found.stdout)["diagnostics"]["absence"]
    assert absence["filters"] == [{"field": "doc_type", "values": ["novel"]}]
    assert [one["outside"] for one in absence["near"]] == [True] * 3
    with library.open(index) as opened:
        result = opened.ask(UNANSWERED)
    assert result.absence is not None
    assert result.absence.hidden is not None
    (index / "ledger.sqlite").rename(tmp_path / "away.sqlite")
    copied = sitegraph.call("ask", UNANSWERED, "--index", str(index), "--format", "json")
    assert json.loads(copied.stdout)["absence"]["hidden"] is None


def test_an_answer_says_nothing_of_it(sitegraph: Sitegraph, index: Path) -> None:
    asked = sitegraph.call("ask", "Where are leases kept?", "--index", str(index), "--format", "json")
    assert json.loads(asked.stdout)["absence"] is None


def test_a_word_that_stands_nowhere_is_not_found_with_the_nearest_spelling(
    sitegraph: Sitegraph, index: Path
) -> None:
    for command, says in (("query", "No evidence found."), ("ask", "not found")):
        told = sitegraph.call(command, "leasez", "--index", str(index)).stdout
        assert told.startswith(says)
        assert "These words stand nowhere in it: leasez." in told
        assert "Spelled like leasez: lease" in told
