"""The real command behind a real proxy, on a site that nobody but the proxy can resolve."""

from pathlib import Path

import pytest

from tests.fakes.forward_proxy import forward_proxy
from tests.fakes.site_server import Reply, Site, serve
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

PAGE = "<html><head><title>Proxies</title></head><body><h1>Proxies</h1><p>{}</p></body></html>"


def test_a_run_reaches_its_site_through_the_proxy_of_the_environment(
    sitegraph: Sitegraph, tmp_path: Path
) -> None:
    text = "Requests that leave the network are made by the proxy on behalf of the crawler."
    site = Site({"/start.html": Reply(PAGE.format(text).encode()), "/robots.txt": Reply(b"", 404)})
    login = {"user": "me", "password": "hush-hush"}
    hosts = {"docs.site.test": "127.0.0.1"}
    with serve(site), forward_proxy(tmp_path / "proxy", hosts=hosts, **login) as proxy:
        named = site.address.replace("127.0.0.1", "docs.site.test")
        source = tmp_path / "docs.yaml"
        source.write_text(
            f"name: docs\nkind: web\nseeds: ['http://{named}/start.html']\n"
            f"allow_private: ['{named}']\nrate: {{per_host_delay: 0}}\n"
        )
        index = str(tmp_path / "index")
        asked = ("run", str(source), "--index", index, "--format", "json")

        straight = sitegraph.command(*asked)
        url = f"http://me:hush-hush@127.0.0.1:{proxy.port}"
        # As desktops set them: one for each scheme, and a SOCKS proxy for what has none.
        desktop = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "all_proxy": "socks://127.0.0.1:1/"}
        through = sitegraph.command(*asked, **desktop)
        found = sitegraph.call(
            "query", "who makes requests that leave the network", "--full", "--index", index
        )

    assert straight.returncode != 0, "the name does not resolve here"
    assert through.returncode == 0, through.stderr
    assert "on behalf of the crawler" in " ".join(found.stdout.split()), (
        "lines are broken at the width of a terminal"
    )
    assert f"GET http://{named}/start.html" in proxy.requests()
    assert "hush-hush" not in straight.stdout + straight.stderr + through.stdout + through.stderr
    assert not [
        file for file in Path(index).rglob("*") if file.is_file() and b"hush-hush" in file.read_bytes()
    ]
