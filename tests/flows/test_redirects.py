"""Redirects that lead elsewhere than before, while every document stays as it is."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.handbook import Handbook, write_source
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server


def led_to(sitegraph: Sitegraph, index: Path) -> list[str]:
    """Where the start page's link `the old way` leads: names of pages."""
    exported = sitegraph.export(index)
    names = {row["id"]: Path(row["url"]).stem for row in exported["documents"]}
    return [names[row["dst"]] for row in exported["edges"] if row["anchor_text"] == "the old way"]


def unchanged(report: dict[str, Any]) -> bool:
    """Whether a run neither found nor encoded anything new."""
    documents = report["documents"]
    return (
        not any(documents[name] for name in ("added", "changed", "gone")) and not report["chunks"]["embedded"]
    )


@pytest.mark.long
def test_an_edge_follows_its_redirect_with_the_run_that_sees_it(
    sitegraph: Sitegraph, handbook: Handbook, tmp_path: Path
) -> None:
    """Led to the guards, to the tokens, unavailable for a moment, led back by a rollback, and on again."""
    source, index = write_source(tmp_path, handbook), tmp_path / "index"
    handbook.link("/index.html", "/old.html", "the old way")
    handbook.redirect("/old.html", "/guards.html")
    sitegraph.run(source, index)
    assert led_to(sitegraph, index) == ["guards"]

    handbook.redirect("/old.html", "/tokens.html")
    moved, again = sitegraph.run(source, index), sitegraph.run(source, index)
    assert (moved["generation"], again["generation"]) == (2, None)
    assert unchanged(moved)
    assert led_to(sitegraph, index) == ["tokens"]
    sitegraph.run(source, tmp_path / "clean")
    assert sitegraph.export(index) == sitegraph.export(tmp_path / "clean")

    handbook.remove("/old.html")
    assert unchanged(sitegraph.run(source, index))
    assert led_to(sitegraph, index) == ["tokens"], "the first 404 proves nothing"

    sitegraph.command("rollback", "--to", "1", "--index", str(index))
    assert led_to(sitegraph, index) == ["guards"]
    handbook.redirect("/old.html", "/tokens.html")
    back = sitegraph.run(source, index, accept=True)
    assert back["published"]
    assert unchanged(back)
    assert led_to(sitegraph, index) == ["tokens"]
    assert sitegraph.damage(index) == ()
