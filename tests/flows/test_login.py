"""A site behind a login, with links to what is no document: one run, one more, and nothing of the secret."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.errors import ConfigError
from tests.fakes.site_server import Ask, Reply, Script, Site, serve, with_validators
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server

SECRET = "open-s3same-the-cellar"
_START = b"""<!doctype html><html><head><title>House</title></head><body><main><h1>House</h1>
<p>The bell hangs in the north wing, and the porter rings it twice at night.</p>
<ul><li><a href="/cellar.html">cellar</a></li><li><a href="/rooms.json">rooms</a></li>
<li><a href="/plan.png">plan</a></li><li><a href="/away">away</a></li></ul></main></body></html>"""
_CELLAR = b"<!doctype html><html><body><main><h1>Cellar</h1><p>Barrels in rows.</p></main></body></html>"


def _guarded(script: Script) -> Script:
    """A page for those who know the word."""

    def answer(ask: Ask) -> Reply:
        if ask.headers.get("authorization") != f"Bearer {SECRET}" or ask.headers.get("x-team") != SECRET:
            return Reply(b"<h1>Log in</h1>", 401)
        assert callable(script)
        reply = script(ask)
        assert isinstance(reply, Reply)
        return reply

    return answer


@pytest.fixture
def elsewhere() -> Iterator[Site]:
    with serve(Site({"/": Reply(b"<p>Another house, another owner.</p>")}), host="127.0.0.2") as site:
        yield site


@pytest.fixture
def house(elsewhere: Site) -> Iterator[Site]:
    with serve(Site()) as site:
        plan = Reply(b"\x89PNG" + b"x" * 100_000, headers={"ETag": '"p1"'}, content_type="image/png")
        unread = Reply(b"", 304, {"ETag": '"p1"'}, None)
        site.pages = {
            "/": _guarded(with_validators(_START, etag='"s1"')),
            "/cellar.html": _guarded(with_validators(_CELLAR, etag='"c1"')),
            "/rooms.json": _guarded(lambda _: Reply(b'{"rooms": 9}', content_type="application/json")),
            "/plan.png": _guarded(lambda ask: unread if "if-none-match" in ask.headers else plan),
            "/away": _guarded(lambda _: Reply(b"", 302, {"Location": elsewhere.url("/")})),
        }
        yield site


def _write_source(folder: Path, house: Site, elsewhere: Site) -> Path:
    path = folder / "house.yaml"
    path.write_text(
        f"name: house\nkind: web\nseeds: ['{house.url('/')}']\nrate: {{per_host_delay: 0}}\n"
        f"allow_private: ['{house.address}', '{elsewhere.address}']\n"
        f"scope: {{include: ['{house.url('/*')}', '{elsewhere.url('/*')}']}}\n"
        "auth: {bearer_env: HOUSE_TOKEN, headers_env: {X-Team: HOUSE_TEAM}}\n"
    )
    return path


def _holders(folder: Path) -> list[str]:
    """Files in which the secret stands."""
    return [
        str(path) for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
    ]


def test_a_login_opens_its_own_site_and_is_found_nowhere_afterwards(
    sitegraph: Sitegraph, house: Site, elsewhere: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, index = _write_source(tmp_path, house, elsewhere), tmp_path / "index"
    monkeypatch.setenv("HOUSE_TEAM", SECRET)
    with pytest.raises(ConfigError, match="HOUSE_TOKEN is not set"):
        sitegraph.run(source, index)
    assert house.log == []

    monkeypatch.setenv("HOUSE_TOKEN", SECRET)
    first = sitegraph.run(source, index)
    told = {name: n for name, n in first["documents"].items() if n}
    assert told == {"scheduled": 6, "fetched": 6, "added": 3, "out_of_scope": 2, "redirected": 1}
    assert first["problems"] == []
    assert elsewhere.log
    assert not any(SECRET in "".join(ask.headers.values()) for ask in elsewhere.log)

    house.log.clear()
    again = sitegraph.run(source, index)
    told = {name: n for name, n in again["documents"].items() if n}
    assert told == {
        **{"scheduled": 6, "fetched": 3, "not_modified": 3},
        **{"unchanged": 3, "out_of_scope": 2, "redirected": 1},
    }
    assert (again["published"], again["problems"]) == (False, [])
    asked = {ask.path: ask.headers.get("if-none-match") for ask in house.log}
    assert asked["/plan.png"] == '"p1"'
    assert _holders(tmp_path) == []
    assert _holders(Path(sitegraph.environment["PREFECT_HOME"])) == []
