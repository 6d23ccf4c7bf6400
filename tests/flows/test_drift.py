"""Pages of a real manual in whose place something else is served: readers keep them, and are told."""

import json
import shutil
from pathlib import Path

import pytest

from sitegraph.cli.demo_script import serve_folder
from tests.fakes.real_sites import unpack
from tests.fakes.sitegraph_runs import Sitegraph, outcomes
from tests.flows.test_real_sites import write_source

pytestmark = [pytest.mark.system, pytest.mark.server, pytest.mark.data]

OLD, NEW = "2.28.1+dfsg-1", "2.32.3+dfsg-5+deb13u1"
FOLDER = "usr/share/doc/python-requests-doc/html"
PAGES = ("index.html", "user/install.html", "user/quickstart.html", "user/authentication.html")
NOTICE = (
    "Palvelu siirtyy tänä yönä uusiin tiloihin, eikä käsikirjan sivuja voi sillä välin näyttää. Hyllyt ovat "
    "taas auki huomenna aamulla yhdeksältä. Kiireelliset asiat hoitaa päivystävä kirjastonhoitaja, jonka "
    "numero löytyy oven vieressä olevasta taulusta. Kiitämme kärsivällisyydestä kaikkia lukijoita."
)


def test_what_is_served_in_the_place_of_pages_is_held_and_the_next_release_is_not(
    sitegraph: Sitegraph, tmp_path: Path
) -> None:
    site = unpack("sites/requests.tar.xz", OLD, tmp_path / "sites") / OLD / FOLDER
    release = unpack("sites/requests.tar.xz", NEW, tmp_path / "sites") / NEW / FOLDER
    index = tmp_path / "index"
    with serve_folder(site) as address:
        only = ", ".join(f"'http://{address}/{path}'" for path in PAGES)
        source = write_source(tmp_path, address, seeds=list(PAGES), more=f"scope: {{include: [{only}]}}\n")
        sitegraph.run(source, index)
        before = sitegraph.export(index)
        page = site / "user/install.html"
        text = page.read_text()
        start, end = text.index('<div class="body"'), text.index('<div class="sphinxsidebar"')
        page.write_text(f"{text[:start]}<div class='body' role='main'><p>{NOTICE}</p></div>{text[end:]}")
        shutil.copy(site / "user/quickstart.html", site / "user/authentication.html")
        shutil.copy(release / "index.html", site / "index.html")

        report = sitegraph.run(source, index)

        assert outcomes(report) == {"quarantined": 2, "changed": 1, "unchanged": 1}
        reasons = {problem["url"].rpartition("/")[2]: problem["reason"] for problem in report["problems"]}
        why = "quarantined: says something else than before"
        assert {name: reasons.get(name) for name in ("install.html", "authentication.html")} == {
            "install.html": why,
            "authentication.html": why,
        }
        held = [chunk for chunk in sitegraph.export(index)["chunks"] if "install.html" in str(chunk["url"])]
        assert held
        assert held == [chunk for chunk in before["chunks"] if "install.html" in str(chunk["url"])]
        told = sitegraph.call("why", f"http://{address}/user/install.html", "--index", str(index))
        assert "quarantined (HTTP 200, says something else than before)" in told.stdout
        assert sitegraph.run(source, index)["generation"] is None, "still there, and nothing to write"

        sitegraph.run(source, index, accept=True)

        asked = sitegraph.call(
            "query", "Milloin hyllyt ovat taas auki?", "--index", str(index), "--format", "json"
        )
        assert any("päivystävä" in one["text"] for one in json.loads(asked.stdout)["evidence"])
