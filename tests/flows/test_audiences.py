"""Audiences beside runs that are killed, rolled back and dropped: nothing that was narrowed is seen again."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from indexes.markers import audiences_of
from tests.fakes.exported_encoder import encoder_cache
from tests.fakes.prefect_server import REPO
from tests.fakes.site_server import Reply, Site, serve
from tests.fakes.sitegraph_runs import sitegraph_here

pytestmark = pytest.mark.system

SECRET = "The vault opens with nine turns of the copper key."
PUBLIC_PAGE = "# Lobby\n\nThe lobby is open from nine to five, and the lift waits there.\n"
PROGRAM = sitegraph_here()


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """An index of a public page, and of one with a secret that everybody may see at first."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "lobby.md").write_text(PUBLIC_PAGE)
    (site / "vault.md").write_text(f"# Vault\n\n{SECRET}\n")
    state_access(tmp_path, "public")
    PROGRAM.run(tmp_path / "site.yaml", tmp_path / "index")
    return tmp_path / "index"


def state_access(folder: Path, group: str) -> None:
    """Let the source file say who may see the vault."""
    (folder / "site.yaml").write_text(
        f"name: site\nkind: files\nroots: [site]\naccess:\n  paths:\n    'vault.md': [{group}]\n"
    )


def close_by_front_matter(folder: Path) -> None:
    """Let the page itself say so: it is another one then, and the whole index has something to publish."""
    (folder / "site/vault.md").write_text(f"---\naccess: staff\n---\n# Vault\n\n{SECRET} Twice.\n")


def found(index: Path, *options: str) -> str:
    """What readers of a set of groups find of the vault."""
    done = PROGRAM.call(
        "query", "how does the vault open", "--index", str(index), "--format", "json", *options
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def described(index: Path) -> dict[str, dict[str, Any]]:
    done = PROGRAM.call("audiences", "--index", str(index), "--format", "json")
    assert done.returncode == 0, done.stderr
    return {one["name"]: one for one in json.loads(done.stdout)["audiences"]}


def killed_at(point: str, source: Path, index: Path) -> None:
    """Run without Prefect, and die by SIGKILL at a point."""
    call = f"sitegraph_here().run(Path({str(source)!r}), Path({str(index)!r}))"
    imports = "from pathlib import Path\nfrom tests.fakes.sitegraph_runs import sitegraph_here\n"
    code = f"{imports}if __name__ == '__main__':\n    {call}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPO,
        env={**os.environ, "SITEGRAPH_CACHE": str(encoder_cache()), "SITEGRAPH_FAULT": f"{point}:kill"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == -9, done.stderr


def test_an_index_without_access_has_no_audience(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/lobby.md").write_text(PUBLIC_PAGE)
    (tmp_path / "site.yaml").write_text("name: site\nkind: files\nroots: [site]\n")

    PROGRAM.run(tmp_path / "site.yaml", tmp_path / "index")

    assert not (tmp_path / "index/audiences").exists()
    assert described(tmp_path / "index") == {}


def test_what_the_source_file_closes_is_gone_though_no_page_changed(index: Path, tmp_path: Path) -> None:
    assert "copper key" in found(index, "--groups", "public")
    state_access(tmp_path, "staff")

    PROGRAM.run(tmp_path / "site.yaml", index)

    assert "copper key" not in found(index, "--groups", "public")
    public_only = sitegraph_here(SITEGRAPH_GROUPS="public")
    chunks = public_only.call("export", "--what", "chunks", "--index", str(index))
    assert ("nine to five" in chunks.stdout, "copper key" in chunks.stdout) == (True, False), chunks.stderr
    (public,) = audiences_of(index)
    kept = [path.stem for path in (public.folder / "generations").glob("*.json")]
    assert kept == [str(described(index)["public"]["generation"])]  # none is left to read the vault from
    assert not (public.folder / "codes").exists()
    assert "copper key" in found(index)


@pytest.mark.parametrize(
    ("point", "is_closed"),
    [
        pytest.param("plan.frozen", False, marks=pytest.mark.long),
        pytest.param("audience.rows_saved", False, marks=pytest.mark.long),
        ("audience.published", True),
        pytest.param("current.before_rename", False, marks=pytest.mark.long),
        pytest.param("current.not_recorded", True, marks=pytest.mark.long),
        pytest.param("audience.before_purge", True, marks=pytest.mark.long),
    ],
)
def test_what_was_narrowed_leaves_before_the_whole_index_says_so(
    point: str, is_closed: bool, index: Path, tmp_path: Path
) -> None:
    close_by_front_matter(tmp_path)

    killed_at(point, tmp_path / "site.yaml", index)

    whole_says_so = "Twice" in found(index)
    assert ("copper key" not in found(index, "--groups", "public")) or not whole_says_so
    assert ("copper key" not in found(index, "--groups", "public")) == is_closed

    PROGRAM.run(tmp_path / "site.yaml", index)

    assert "copper key" not in found(index, "--groups", "public")
    assert "Twice" in found(index)
    assert not described(index)["public"]["behind"]
    (public,) = audiences_of(index)
    assert len(list((public.folder / "generations").glob("*.json"))) == 1


def test_an_audience_that_is_behind_is_told_and_brought_up_to_date_without_a_run(
    index: Path, tmp_path: Path
) -> None:
    (tmp_path / "site/lobby.md").write_text(PUBLIC_PAGE.replace("nine to five", "noon to midnight"))
    killed_at("current.not_shown", tmp_path / "site.yaml", index)
    # By then the whole index is published; the audience is not.
    assert described(index)["public"]["behind"]
    assert "noon to midnight" not in found(index, "--groups", "public")

    done = PROGRAM.call("audiences", "--sync", "--index", str(index), "--quiet")

    assert done.returncode == 0, done.stderr
    assert "noon to midnight" in found(index, "--groups", "public")
    assert not described(index)["public"]["behind"]


def test_audiences_go_back_with_the_whole_index_and_come_again(index: Path, tmp_path: Path) -> None:
    (tmp_path / "site/lobby.md").write_text("# Lobby\n\nThis page is being rebuilt, says the caretaker.\n")
    PROGRAM.run(tmp_path / "site.yaml", index)
    assert "caretaker" in found(index, "--groups", "public")

    back = PROGRAM.call("rollback", "--index", str(index))

    assert back.returncode == 0, back.stderr
    assert "caretaker" not in found(index, "--groups", "public")
    assert not described(index)["public"]["behind"]
    assert PROGRAM.call("rollback", "--lift", "--index", str(index)).returncode == 0
    PROGRAM.run(tmp_path / "site.yaml", index)
    assert "caretaker" in found(index, "--groups", "public")


def test_a_source_that_is_dropped_leaves_every_audience(index: Path) -> None:
    assert PROGRAM.call("drop", "site", "--index", str(index)).returncode == 0
    assert described(index)["public"]["documents"] == 0
    assert not list((index / "audiences/public/raw").rglob("*.zst"))


def test_an_audience_is_only_read(index: Path, tmp_path: Path) -> None:
    done = PROGRAM.call("drop", "site", "--index", str(index / "audiences/public"))
    assert done.returncode == 2
    assert "read-only" in done.stderr


def test_audiences_are_declared_and_taken_away(index: Path, tmp_path: Path) -> None:
    state_access(tmp_path, "staff")
    PROGRAM.run(tmp_path / "site.yaml", index)
    assert PROGRAM.call("audiences", "--add", "staff", "--index", str(index), "--quiet").returncode == 0
    assert "copper key" in found(index, "--groups", "staff")

    assert PROGRAM.call("audiences", "--drop", "staff", "--index", str(index), "--quiet").returncode == 0

    assert not (index / "audiences/staff").exists()
    refused = PROGRAM.call("audiences", "--drop", "public", "--index", str(index))
    assert (refused.returncode, "cannot be dropped" in refused.stderr) == (2, True)
    unknown = PROGRAM.call("audiences", "--drop", "hr", "--index", str(index))
    assert "no audience hr; this index has: public" in unknown.stderr
    every = PROGRAM.call("audiences", "--add", "*", "--index", str(index))
    assert (every.returncode, "needs no audience" in every.stderr) == (2, True)


def test_of_a_manual_readers_see_the_latest_version_that_they_may_see(tmp_path: Path) -> None:
    """A version that is hidden neither takes the place of the one before nor is named beside it."""
    for version, colour in (("15", "amber"), ("16", "indigo")):
        folder = tmp_path / "manual" / version
        folder.mkdir(parents=True)
        (folder / "vault.md").write_text(f"# Vault\n\nThe vault opens with the {colour} key.\n")
    (tmp_path / "manual.yaml").write_text(
        "name: manual\nkind: files\nroots: [manual]\nfamily: house\nversion: {url: '^([0-9]+)/'}\n"
        "access:\n  paths:\n    '16/*': [staff]\n"
    )
    index = tmp_path / "index"
    PROGRAM.run(tmp_path / "manual.yaml", index)

    whole = json.loads(found(index))["evidence"]
    seen = json.loads(found(index, "--groups", "public"))["evidence"]

    assert [(one["versions"]["version"], "indigo" in one["text"]) for one in whole] == [("16", True)]
    assert [(one["versions"]["version"], "amber" in one["text"]) for one in seen] == [("15", True)]
    assert "16" not in json.dumps(seen[0]["versions"])


@pytest.mark.long
def test_a_manual_that_gets_a_name_gets_it_for_every_audience(tmp_path: Path) -> None:
    manual = tmp_path / "manual"
    for version in ("15", "16"):
        (manual / version).mkdir(parents=True)
        (manual / version / "vault.md").write_text(f"# Vault\n\nThe vault of {version} opens at nine.\n")
    (manual / "cellar.md").write_text("# Cellar\n\nWine is kept there.\n")
    text = "name: manual\nkind: files\nroots: [manual]\naccess:\n  paths:\n    'cellar.md': [staff]\n"
    (tmp_path / "manual.yaml").write_text(text)
    PROGRAM.run(tmp_path / "manual.yaml", tmp_path / "index")
    (tmp_path / "manual.yaml").write_text(f"{text}family: house\nversion: {{url: '^([0-9]+)/'}}\n")
    PROGRAM.run(tmp_path / "manual.yaml", tmp_path / "index")
    (tmp_path / "manual.yaml").write_text(f"{text}family: inn\nversion: {{url: '^([0-9]+)/'}}\n")

    PROGRAM.run(tmp_path / "manual.yaml", tmp_path / "index")

    for options in ((), ("--groups", "public")):
        first = json.loads(found(tmp_path / "index", *options))["evidence"][0]["versions"]
        assert (first["family"], first["version"]) == ("inn", "16")


def documents(index: Path, groups: str) -> set[str]:
    """Addresses of the documents that readers of groups have."""
    program = sitegraph_here(SITEGRAPH_GROUPS=groups)
    done = program.call("export", "--what", "documents", "--index", str(index))
    assert done.returncode == 0, done.stderr
    return {row["url"] or row["path"] for row in map(json.loads, done.stdout.splitlines())}


SPELLINGS = (
    *("//hr/a.html", "/HR/b.html", "/hr%2Fc.html", "/hr;v=1/d.html", "/pub/..%2Fhr/e.html", "/hr%252Ff.html"),
    *("/pub/..;/hr/g.html", "/hr%5Ch.html", "/hr./i.html", "/%EF%BC%A8%EF%BC%B2/j.html", "/%C0%AFhr/k.html"),
    *("/hr%20/l.html", "/index.php/hr/m.html", "/HR", "/h%C2%ADr/o.html"),
)
TEXT = (
    "The vault opens with nine turns of the copper key, which the keeper of the harbour keeps in a drawer of "
    "the second desk, behind the ledger of all the ships that came last year and paid."
)


def test_a_restricted_page_is_closed_under_every_address(tmp_path: Path) -> None:
    """Each spelling gives other words, so that only its address tells; two more pages are copies."""

    def page(body: str, head: str = "<title>Page</title>") -> Reply:
        return Reply(f"<html><head>{head}</head><main><h1>Page</h1>{body}</main></html>".encode())

    named = '<title>Named</title><link rel="canonical" href="/hr/pay.html">'
    pages: dict[str, Any] = {
        "/hr/pay.html": page(f"<p>{TEXT}</p>"),
        "/copy.html": page(f"<p>{TEXT}</p>", "<title>Copy</title>"),
        "/named.html": page("<p>Other words about the vault.</p>", named),
    }
    for number, path in enumerate(SPELLINGS):
        pages[path] = page(f"<p>{SECRET} It is turn number {number} of the vault.</p>")
    with serve(Site(pages)) as site:
        links = "".join(f'<p><a href="{site.url(path)}">see</a></p>' for path in pages)
        site.pages["/away.html"] = Reply(status=302, headers={"Location": "/hr/merger-with-acme.html"})
        links += f'<p><a href="{site.url("/away.html")}">see</a></p>'
        site.pages["/hr/a.html"] = site.pages["//hr/a.html"]  # http.server reads it so
        site.pages["/"] = page(f"<p>Welcome to the lobby.</p>{links}")
        (tmp_path / "site.yaml").write_text(
            f"name: site\nkind: web\nseeds: ['{site.url('/')}']\nallow_private: ['{site.address}']\n"
            f"rate: {{per_host_delay: 0}}\nscope: {{exclude: ['*/hr/merger*']}}\n"
            f"access:\n  paths:\n    '{site.url('/hr/*')}': [hr]\n"
        )
        report = PROGRAM.run(tmp_path / "site.yaml", tmp_path / "index")

    assert documents(tmp_path / "index", "*") == {
        site.url(path) for path in ("/", *pages) if path != "/hr/pay.html"
    }, report["problems"]
    assert documents(tmp_path / "index", "public") == {site.url("/")}
    ledgers = (tmp_path / "index/audiences/public").glob("ledger.sqlite*")
    assert not any(b"merger-with-acme" in one.read_bytes() for one in ledgers)
    assert PROGRAM.call("audiences", "--add", "hr", "--index", str(tmp_path / "index")).returncode == 0
    assert site.url("/copy.html") in documents(tmp_path / "index", "hr")
    told = {one["url"] for one in report["problems"]}
    assert {site.url(path) for path in (*SPELLINGS, "/copy.html")} <= told


def test_a_copy_in_another_source_is_closed_by_the_run_that_finds_the_restricted_one(tmp_path: Path) -> None:
    for name, access in (("open", ""), ("closed", "access: [staff]\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text(f"# Vault\n\n{TEXT}\n")
        (tmp_path / f"{name}.yaml").write_text(f"name: {name}\nkind: files\nroots: [{name}]\n{access}")
    (tmp_path / "open/lobby.md").write_text(PUBLIC_PAGE)
    index = tmp_path / "index"
    PROGRAM.run(tmp_path / "open.yaml", index)

    PROGRAM.run(tmp_path / "closed.yaml", index)
    after = documents(index, "public")
    report = PROGRAM.run(tmp_path / "open.yaml", index)

    assert after == documents(index, "public") == {"lobby.md"}
    (told,) = report["problems"]
    assert (told["url"], "files://closed/closed.md" in told["reason"]) == ("files://open/open.md", True)


HEADS = (
    "---\ntitle: A\naccess: [hr]\n---\n",
    "\n---\ntitle: B\naccess: [hr]\n---\n",
    '+++\ntitle = "C"\naccess = ["hr"]\n+++\n',
    '{\n"title": "D",\n"access": ["hr"]\n}\n',
    "---\ntitle: E\nAccess: [hr]\n---\n",
    "<!-- reviewed -->\n---\ntitle: F\naccess: [hr]\n---\n",
    '---toml\ntitle = "G"\naccess = ["hr"]\n---\n',
    "---\ntitle: H\naccess: [hr]\n",
)


def test_front_matter_that_names_access_in_any_form_closes_its_page(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site.yaml").write_text("name: site\nkind: files\nroots: [site]\n")
    (tmp_path / "site/lobby.md").write_text(f"# Access\n\nAccess: all may come in.\n\n{PUBLIC_PAGE}")
    for number, head in enumerate(HEADS):
        (tmp_path / f"site/p{number}.md").write_text(f"{head}\n# Page {number}\n\nIt is about {number}.\n")

    report = PROGRAM.run(tmp_path / "site.yaml", tmp_path / "index")

    assert documents(tmp_path / "index", "public") == {"lobby.md"}
    assert len(documents(tmp_path / "index", "*")) == 1 + len(HEADS)
    told = {one["url"] for one in report["problems"] if "access is named" in one["reason"]}
    assert told == {f"files://site/p{number}.md" for number in range(1, len(HEADS))}
