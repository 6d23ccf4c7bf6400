"""Two workers of one pool, three sources at once: one ledger in PostgreSQL, one index, one host."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.fakes.exported_encoder import encoder_cache
from tests.fakes.prefect_server import PrefectServer, running_worker
from tests.fakes.site_server import Reply, Site, serve
from tests.fakes.sitegraph_runs import sitegraph_on

pytestmark = [pytest.mark.server, pytest.mark.postgres, pytest.mark.long, pytest.mark.timeout(1800)]

POOL = "two-workers"
DELAYS = {"clocks": 0.2, "lamps": 0.3, "bells": 0.2}
PAGES = 6


@pytest.fixture
def site() -> Iterator[Site]:
    pages: dict[str, Reply] = {}
    for name in DELAYS:
        links = " ".join(f'<a href="/{name}/{n}.html">{n}</a>' for n in range(PAGES))
        pages[f"/{name}/"] = _page(name, f"All of the {name} of the house are listed here: {links}.")
        for n in range(PAGES):
            text = f"Who winds number {n} of the {name} writes the hour into the book of the {name}."
            pages[f"/{name}/{n}.html"] = _page(f"{name} {n}", text)
    with serve(Site(dict(pages))) as served:
        yield served


def _page(title: str, text: str) -> Reply:
    main = f"<main><h1>{title}</h1><p>{text}</p></main>"
    body = f"<html><head><title>{title}</title></head><body>{main}</body></html>"
    return Reply(body.encode())


@pytest.fixture
def sources(site: Site, tmp_path: Path) -> Path:
    (folder := tmp_path / "sources").mkdir()
    for name, delay in DELAYS.items():
        (folder / f"{name}.yaml").write_text(
            f"name: {name}\nkind: web\nseeds: ['{site.url(f'/{name}/')}']\n"
            f"allow_private: ['{site.address}']\nrate: {{per_host_delay: {delay}}}\n"
            "deployment: {job_variables: {env: {SITEGRAPH_WORKERS: '1'}}}\n"
        )
    return folder


def test_three_sources_at_once_on_two_workers_complete_and_answer_and_share_their_host(
    prefect_server: PrefectServer, sources: Path, site: Site, postgres_url: str, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    settings = {"SITEGRAPH_CACHE": str(encoder_cache()), "SITEGRAPH_LEDGER_URL": postgres_url}
    program = sitegraph_on(prefect_server)
    logs = [tmp_path / f"worker-{n}.log" for n in range(2)]

    with (
        running_worker(prefect_server, POOL, log=logs[0], limit=2, **settings),
        running_worker(prefect_server, POOL, log=logs[1], limit=2, **settings),
    ):
        call = ("deploy", str(sources), "--home", str(tmp_path), "--index", str(index), "--pool", POOL)
        done = program.call(*call, "--no-alarms")
        assert done.returncode == 0, done.stderr
        again = program.call(*call, "--no-alarms")
        ids = [prefect_server.start(f"index-source/{name}") for name in DELAYS]
        runs = [prefect_server.wait(one, timeout=1200) for one in ids]

    assert again.stdout.count("unchanged") == len(DELAYS), again.stdout
    assert [run.state_type for run in runs] == ["COMPLETED"] * 3, [prefect_server.logs(one) for one in ids]
    assert all("Flow run" in log.read_text(errors="replace") for log in logs), "both workers took runs"
    for name in DELAYS:
        asked = program.call(
            "query", f"Who winds the {name}?", "--index", str(index), "--format", "json", **settings
        )
        assert asked.returncode == 0, asked.stderr
        assert site.url(f"/{name}/") in asked.stdout
    longest = max(DELAYS.values())
    gaps = [late.at - early.at for early, late in pairwise(site.log)]
    assert len(site.paths()) >= 3 * (PAGES + 1)
    assert min(gaps) >= min(DELAYS.values())
    lamps = [ask.at for ask in site.log if ask.path.startswith("/lamps/")]
    between = [ask.at for ask in site.log if lamps[0] <= ask.at <= lamps[-1]]
    assert min(late - early for early, late in pairwise(between)) >= longest
