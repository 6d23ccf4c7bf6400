"""A version of a manual, asked for over HTTP, on a page, from Python and by `python -m retrieval`."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import sitegraph
from indexes.layout import IndexLayout
from indexes.publish.current import write_current
from indexes.publish.generation import dump_generation, load_generation
from retrieval.__main__ import main
from schemas.errors import FilterError
from schemas.families import SourceFamily
from tests.fakes.disk_index import write_index
from tests.fakes.exported_encoder import place_exported_encoder
from tests.fakes.small_index import GENERATION, SOURCE, page
from tests.unit.sitegraph.service.conftest import serving

OLD, NEW = "The default of lease_seconds is 60.", "The default of lease_seconds is 90."
QUESTION = "default of lease_seconds"
SCHEMA = Path(__file__).parents[4] / "docs" / "reference" / "bundle.schema.json"
KNOWN = "no manual has it; known: shop 17, 15"


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index whose generation says that its source has versions of a manual."""
    encoder = place_exported_encoder(tmp_path_factory.mktemp("encoder") / "default")
    pages = [
        page(f"{version}/leases", {"Leases": text, "Carts": "A cart holds leases."}, version=version)
        for version, text in (("15", OLD), ("17", NEW))
    ]
    root = write_index(tmp_path_factory.mktemp("shop") / "index", pages, (), encoder=encoder)
    layout = IndexLayout(root)
    family = SourceFamily(source=SOURCE, family="shop", url="^([^/]+)/")
    dump_generation(layout, replace(load_generation(layout, GENERATION), families=(family,)))
    write_current(root, GENERATION)
    return root


def test_over_http_the_latest_answers_unless_another_version_is_asked_for(manual: Path) -> None:
    with serving(manual) as client:
        for version, says in ((None, {NEW}), ("15", {OLD}), ("shop=15", {OLD}), ("all", {OLD, NEW})):
            body = {"query": QUESTION} if version is None else {"query": QUESTION, "version": version}
            bundle = client.post("/retrieve", json=body).json()
            Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(bundle)
            texts = {one["text"]: one["versions"] for one in bundle["evidence"]}
            assert texts.keys() == says | {"A cart holds leases."}
        assert texts["A cart holds leases."] == {
            "family": "shop",
            "version": "17",
            "also_in": ["15"],
            "not_in": [],
        }
        refused = client.post("/retrieve", json={"query": QUESTION, "version": "9"})
        assert (refused.status_code, KNOWN in refused.json()["detail"]) == (422, True)
        assert client.post("/retrieve", json={"query": QUESTION, "version": ""}).status_code == 422


def test_a_page_of_results_names_the_version(manual: Path) -> None:
    with serving(manual) as client:
        shown = client.get("/search", params={"q": QUESTION}, headers={"Accept": "text/html"})
    assert shown.status_code == 200
    assert "shop 17" in shown.text
    assert "shop 15" not in shown.text


def test_from_python_a_version_is_an_argument(manual: Path) -> None:
    with sitegraph.open(manual, environment={}) as index:
        assert NEW in {one.text for one in index.retrieve(QUESTION).evidence}
        assert OLD in {one.text for one in index.retrieve(QUESTION, version="15").evidence}
        assert "60" in index.ask("What is the default of lease_seconds?", version="15").answer.text
        with pytest.raises(FilterError, match=KNOWN):
            index.retrieve(QUESTION, version="9")


def test_rows_are_of_a_version(manual: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--query", QUESTION, "--index", str(manual)]
    assert main([*asked, "--of-version", "15"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["versions"]["version"] for row in rows} == {"15"}
    assert main([*asked, "--of-version", "9"]) == 2
    assert KNOWN in capsys.readouterr().err


def test_where_a_version_says_nothing_another_may_come_near(manual: Path) -> None:
    with serving(manual) as client:
        filters = {"doc_type": "nothing"}
        body = {"query": QUESTION, "version": "15", "filters": filters}
        absence = client.post("/retrieve", json=body).json()["diagnostics"]["absence"]
    assert {"field": "version", "values": ["15"]} in absence["filters"]
    assert absence["near"]
