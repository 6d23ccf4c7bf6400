"""A site that lets in who signs requests, and `sitegraph keys`, by which it knows them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.signature_gate import Gate
from tests.fakes.signing_keys import make_keys
from tests.fakes.site_server import Reply, Site, serve, with_validators
from tests.fakes.sitegraph_runs import Sitegraph, outcomes, report_of

pytestmark = pytest.mark.server

_AGENT = "https://crawler.example.org"
_WHERE = Path(".well-known") / "http-message-signatures-directory"
_START = b"""<!doctype html><html><body><main><h1>House</h1><p>The bell hangs in the north wing.</p>
<ul><li><a href="/cellar.html">cellar</a></li><li><a href="/moved">moved</a></li></ul></main></body></html>"""
_CELLAR = b"<!doctype html><html><body><main><h1>Cellar</h1><p>Barrels in rows.</p></main></body></html>"


@pytest.fixture
def house() -> Iterator[tuple[Site, Gate]]:
    gate = Gate({"keys": []})
    pages = {
        "/robots.txt": Reply(b"User-agent: *\nDisallow: /no\n", content_type="text/plain"),
        "/": with_validators(_START, etag='"s1"'),
        "/cellar.html": with_validators(_CELLAR, etag='"c1"'),
        "/moved": Reply(b"", 302, {"Location": "/cellar.html"}),
        "/sitemap.xml": Reply(b"<urlset/>", content_type="text/xml"),
        "/llms.txt": Reply(b"", 404),
    }
    with serve(Site({path: gate.guards(script) for path, script in pages.items()})) as site:
        gate.origin = site.origin
        yield site, gate


def _write_source(folder: Path, site: Site) -> Path:
    path = folder / "house.yaml"
    path.write_text(
        f"name: house\nkind: web\nseeds: ['{site.url('/')}']\nrate: {{per_host_delay: 0}}\n"
        f"allow_private: ['{site.address}']\n"
    )
    return path


def test_a_site_knows_every_request_by_the_directory_that_keys_writes(
    sitegraph: Sitegraph, house: tuple[Site, Gate], tmp_path: Path
) -> None:
    site, gate = house
    former, pair = make_keys(tmp_path, "former"), make_keys(tmp_path, "crawler")
    settings = {"SITEGRAPH_REQUEST_KEY": str(pair.private), "SITEGRAPH_SIGNATURE_AGENT": _AGENT}
    source, index = str(_write_source(tmp_path, site)), str(tmp_path / "index")

    written = sitegraph.call("keys", "--to", str(tmp_path / "www"), "--also", str(former.public), **settings)
    assert f"wrote {tmp_path / 'www' / _WHERE}; serve it as application/http-message-" in written.stdout
    gate.directory = json.loads((tmp_path / "www" / _WHERE).read_text())
    assert len(gate.directory["keys"]) == 2
    printed = sitegraph.call("keys", **settings)
    assert json.loads(printed.stdout)["keys"] == gate.directory["keys"][:1]

    report = report_of(sitegraph.call("run", source, "--index", index, "--format", "json", **settings))
    assert outcomes(report) == {"added": 2, "redirected": 1}
    again = report_of(sitegraph.call("run", source, "--index", index, "--format", "json", **settings))
    assert outcomes(again) == {"unchanged": 2, "redirected": 1}
    assert gate.refused == []
    assert len(gate.nonces) == len([ask for ask in site.log if ask.path in site.pages])
    assert len(site.log) == report["http"]["requests"] + again["http"]["requests"]
    assert all("signature" in ask.headers for ask in site.log)

    unsigned = sitegraph.call("run", source, "--index", str(tmp_path / "other"))
    assert unsigned.returncode == 4
    assert "HTTP 403" in unsigned.stderr
    assert (
        sitegraph.call("inspect", site.url("/"), "--allow-private", site.address, **settings).returncode == 0
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"SITEGRAPH_REQUEST_KEY": "KEY"}, "SITEGRAPH_SIGNATURE_AGENT: must say where the directory of"),
        ({"SITEGRAPH_REQUEST_KEY": "KEY", "SITEGRAPH_SIGNATURE_AGENT": "http://h.test"}, "as https://HOST;"),
        (
            {"SITEGRAPH_REQUEST_KEY": "KEY", "SITEGRAPH_SIGNATURE_AGENT": "https://h.test/x"},
            "as https://HOST;",
        ),
        ({"SITEGRAPH_SIGNATURE_AGENT": _AGENT}, "SITEGRAPH_REQUEST_KEY: must name a file with an Ed25519"),
        (
            {"SITEGRAPH_REQUEST_KEY": "no.pem"},
            "no.pem: cannot be read (No such file or directory); SITEGRAPH_REQ",
        ),
        ({"SITEGRAPH_REQUEST_KEY": "PUBLIC"}, "is not an Ed25519 private key in PEM without a password"),
        ({"SITEGRAPH_REQUEST_KEY": "KEY", "SITEGRAPH_SIGNING_KEY": "KEY"}, "make another for requests"),
    ],
)
def test_a_key_that_signs_nothing_is_a_wrong_setting_before_the_first_request(
    sitegraph: Sitegraph, house: tuple[Site, Gate], tmp_path: Path, settings: dict[str, str], said: str
) -> None:
    site, _ = house
    pair = make_keys(tmp_path)
    files = {"KEY": str(pair.private), "PUBLIC": str(pair.public)}
    given = {name: files.get(value, value) for name, value in settings.items()}
    done = sitegraph.call(
        "run", str(_write_source(tmp_path, site)), "--index", str(tmp_path / "index"), **given
    )
    assert (done.returncode, site.log) == (2, [])
    assert said in done.stderr


def test_keys_says_what_it_needs(sitegraph: Sitegraph, tmp_path: Path) -> None:
    done = sitegraph.call("keys")
    assert (done.returncode, done.stdout) == (2, "")
    assert "SITEGRAPH_REQUEST_KEY: must name a file with an Ed25519 private key in PEM" in done.stderr
    pair = make_keys(tmp_path)
    wrong = sitegraph.call("keys", "--also", str(pair.private), SITEGRAPH_REQUEST_KEY=str(pair.private))
    assert wrong.returncode == 2
    assert "is not made of Ed25519 public keys" in wrong.stderr
