"""The commands of the manual, typed: what can be run here is, on a site that MkDocs made."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.copies import copy_index
from tests.fakes.folder_server import FolderServer, python_server
from tests.fakes.manual_commands import (
    REPO,
    Command,
    commands_of,
    every_block,
    every_command,
    shortest,
    simple_commands,
)
from tests.fakes.pdfs import manual
from tests.fakes.prefect_server import free_port, poll, running_process, server_environment
from tests.fakes.sitegraph_runs import Sitegraph
from tests.fakes.tiny_model import write_tiny_model
from tests.fakes.webhook import receiver

pytestmark = [pytest.mark.system, pytest.mark.server, pytest.mark.timeout(900)]

SITE = "https://docs.example.org/handbook/"
BIN = Path(sys.executable).parent
PAGES = {
    "index": "# Handbook\n\nHow the house works.\n\n"
    "- [Keys](keys.md)\n- [Leave](leave.md)\n- [Leases](leases.md)\n",
    "keys": "# Keys\n\n## Rotation\n\n"
    "To rotate the signing key, call the registrar before noon, and seal the old one.\n",
    "leave": "# Leave\n\n## Asking\n\nWhoever wants to be away asks the head of the room a week before.\n",
    "leases": "# Leases\n\n## Expiry\n\n"
    "When a lease expires, the next writer takes it over. See [keys](keys.md).\n",
}
NOTES = {
    "gov-0017.md": "---\nid: GOV-0017\ndoc_type: governance\nstatus: active\n---\n# Retention\n\n"
    "Audit logs are kept for seven years; this supersedes the old retention policy.\n",
    "backup.md": "# Backup\n\nA tape is written each night and kept beside the day begin list.\n",
}
SOURCES = {
    "handbook": "kind: web\nseeds: ['{seed}']\nallow_private: ['{address}']\nrate: {{per_host_delay: 0}}\n"
    "metadata: {{doc_type: handbook}}\n",
    "notes": "kind: files\nroots: [notes]\ntools: [tools.yaml]\nmetadata: {{doc_type: governance}}\n",
}
TOOLS = """\
tools:
  - name: shop open
    type: command
    description: Opens the shop for the day.
  - name: restock
"""
STORIES = frozenset({"docs/quickstart.md", "docs/how-to/schedules-and-alarms.md", "docs/operations.md"})
"""Pages whose commands belong together; the stories below type them in order."""

ELSEWHERE = {
    r"sitegraph run .*--index s3://": "tests/flows/test_index_in_a_bucket.py",
    r"sitegraph \w+ .*--index s3://": "tests/flows/test_pull.py",
    r"sitegraph pull\b": "tests/flows/test_pull.py",
    r"openssl\b": "tests/flows/test_pull.py",
    r"sitegraph keys\b": "tests/flows/test_signed_requests.py",
    r"SITEGRAPH_TASK_RUNNER=": "tests/flows/test_dask.py",
    r"prefect\b": "tests/flows/test_work_pools.py",
    r"sitegraph serve\b": "test_the_quickstart_from_an_empty_folder_to_an_answer_over_http",
    r"sitegraph mcp\b": "tests/flows/test_agent.py",
    r"sitegraph lint\b": "tests/flows/test_lint.py",
    r"sitegraph diff-versions\b": "tests/flows/test_families.py",
    r"sitegraph (?:query|ask) .*--version [\w.=]+$": "tests/flows/test_families.py",
    r"sitegraph (?:query|ask) .*--allow [\w-]+$": "tests/flows/test_uses.py",
    r"sitegraph audiences\b": "tests/flows/test_audiences.py",
    r"(?:sitegraph query|python -m retrieval) .*--groups \w+$": "tests/flows/test_who_sees_what.py",
    r"sitegraph deploy\b": "test_schedules_and_alarms_from_nothing_to_a_run_that_was_scheduled",
    r"curl\b": "test_the_quickstart_from_an_empty_folder_to_an_answer_over_http",
    r"sitegraph demo\b": "tests/unit/sitegraph/cli/test_demo_script.py, and `make demo`",
    r"sitegraph inspect pumps.html": "tests/unit/sitegraph/cli/commands/test_inspect.py",
    r"python -m pytest\b": "that test itself",
    r"pip install\b|python3 -m venv\b": "tests/architecture/test_readme_installs.py",
    r"make\b": "the merge check of this repository",
}
"""Commands that a story or another test runs, by how they begin."""

NOT_HERE = {
    r"cp deploy/|docker\b": "needs Docker; tests/flows/test_compose.py runs what the containers run",
    r"kubectl\b": "needs a cluster",
    r"dask\b": "runs until it is stopped; tests/faults/test_dask_kills.py starts both",
    r"export\b": "tells the shell something",
    r"claude\b": "the program of an agent",
    r"shop\b": "the reader's own program",
}
"""Commands that nothing here can run; tests/architecture/test_manual_commands.py reads them."""


def commands_on(page: str) -> list[str]:
    """The commands of a page that work on an index, in order."""
    found = [one.text for block in every_block() if block.page == page for one in commands_of(block)]
    return [one for one in found if not re.match(r"make|pip|python3 -m venv", one)]


def typed_alone(command: Command) -> bool:
    """Whether a command is run by itself, in the folder that a reader of the manual would have by then."""
    others = (*ELSEWHERE, *NOT_HERE)
    if command.page in STORIES or command.text in commands_on("docs/quickstart.md"):
        return False
    return not any(begins(command, pattern) for pattern in others)


def begins(command: Command, pattern: str) -> bool:
    """Whether a command, with its variables or without them, begins so."""
    bare = re.sub(r"^(?:[A-Z_]+=\S+ )+", "", command.text)
    return any(re.match(pattern, text) for text in (command.text, bare))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FolderServer]:
    """The handbook as MkDocs builds it, under /handbook/."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    (folder / "docs").mkdir()
    for name, text in PAGES.items():
        (folder / "docs" / f"{name}.md").write_text(text)
    with python_server(folder / "site") as server:
        settings = {
            "site_name": "Handbook", "site_url": f"{server.url}handbook/", "site_dir": "site/handbook",
            "use_directory_urls": False, "theme": {"name": "readthedocs"},
        }  # fmt: skip
        (folder / "mkdocs.yml").write_text(json.dumps(settings), encoding="utf-8")
        build(load_config(str(folder / "mkdocs.yml")))
        yield server


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who has followed the manual: a folder with sources, an index of two generations, questions."""

    folder: Path
    site: FolderServer
    chunk: str

    def here(self, command: str) -> str:
        """A command of the manual with the names of this folder in place of those that stand for any."""
        told = command.replace(SITE, f"{self.site.url}handbook/")
        told = re.sub(r"chunk:[a-z2-7]{26}|\bCHUNK\b", self.chunk, told)
        for placeholder, name in (
            ("sitegraph why URL", f"sitegraph why {self.site.url}handbook/keys.html"),
            ("sitegraph inspect URL", f"sitegraph inspect {self.site.url}handbook/keys.html"),
            ("init URL", f"init {self.site.url}handbook/"),
            ("run URL", f"run {self.site.url}handbook/ --index tried"),
            ("query TEXT", "query 'who rotates the signing key'"),
            ("NODE", "GOV-0017"), ("drop NAME", "drop notes"), ("PATH", "graph.graphml"),
            ("/var/lib/node_exporter/", f"{self.folder}/"), ("--since 7", "--since 1"),
            ("--as-of 2026-03-01", "--as-of 1"), ("--as-of 7", "--as-of 1"),
            ("topic/what-happens-when-a-lease-expires", "topic/leases"),
        ):  # fmt: skip
            told = told.replace(placeholder, name)
        asks_private = re.match(r"sitegraph (init|run|inspect) http", told)
        return f"{told} --allow-private {self.site.address}" if asks_private else told


@pytest.fixture(scope="module")
def made(sitegraph: Sitegraph, site: FolderServer, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """The folder; tests write to copies of it."""
    folder = tmp_path_factory.mktemp("reader")
    for name, text in NOTES.items():
        (folder / "notes").mkdir(exist_ok=True)
        (folder / "notes" / name).write_text(text)
    (folder / "tools.yaml").write_text(TOOLS)
    (folder / "manual.pdf").write_bytes(manual())
    (folder / "sitegraph.toml").write_text('index = "DIR"\nchecks = "checks/questions.yaml"\n')
    (folder / "checks").mkdir()
    asked = "{question: 'Who rotates the signing key?', states: signing key}"
    (folder / "checks" / "questions.yaml").write_text(f"questions: [{asked}]\n")
    questions = [
        {"id": f"q{n}", "question": "Who seals the old key?", "gold": ["keys.html"]} for n in range(20)
    ]
    for name in ("questions.jsonl", "QUESTIONS"):
        (folder / name).write_text("".join(f"{json.dumps(one)}\n" for one in questions))
    (folder / "QUERIES.jsonl").write_text('{"query": "how long are audit logs kept"}\n')
    (folder / "DIR.wiki" / "topic").mkdir(parents=True)
    for name, text in SOURCES.items():
        source = text.format(seed=f"{site.url}handbook/index.html", address=site.address)
        (folder / f"{name}.yaml").write_text(f"name: {name}\n{source}")
        sitegraph.run(folder / f"{name}.yaml", folder / "DIR")
    shutil.copy(folder / "handbook.yaml", folder / "SOURCE.yaml")
    write_tiny_model(folder / "multilingual-e5-small")
    (folder / "DIR.wiki" / "topic" / "leases.md").write_text(
        "---\ntitle: Leases\n---\nThey end by themselves.\n"
    )
    (folder / "handbuch.yaml").write_text("name: handbuch\nkind: files\nroots: [notes]\n")
    found = sitegraph.export(folder / "DIR")["chunks"]
    chunk = next(row["id"] for row in found if "signing key" in row["text"])
    for words in (("query", "who rotates the signing key"), ("show", chunk)):  # which makes logs
        assert sitegraph.call(*words, "--index", str(folder / "DIR")).returncode == 0
    return Reader(folder, site, chunk)


@pytest.fixture
def reader(made: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    """The same folder, to write to, as the working directory."""
    folder = copy_index(made.folder, tmp_path / "reader")
    for name in ("index", "handbook-index"):
        (folder / name).symlink_to("DIR")
    monkeypatch.chdir(folder)
    return Reader(folder, made.site, made.chunk)


SAYS = {
    "init": r"next: sitegraph run",
    "plan": r"(?m)^  fetch +4  known",
    "run": r"nothing changed|generation 1 published",
    "why": r"state +fetched",
    "drop": r"2 documents, 2 chunks removed by generation 3",
    "query": r"\[S1\]|\"evidence\":",
    "ask": r"\[S1\]|not found",
    "show": r"rotate the signing key",
    "inspect": r"kind +(html|markdown)|^(leave|manual)\.html$",
    "graph": r"Page  Retention",
    "export": r"^\{|<graphml|WARC/1.1",
    "changes": r"added +\S+ +\(|\"change\": \"added\"",
    "status": r"generation 2 as of",
    "completeness": r"(?m)^  indexed: \d of \d pages that are named",
    "check": r"1 of 1 question passed|no run has asked|<testsuites|^# Proposed",
    "tune": r"weights fitted",
    "verify": r"generation 2: intact",
    "repair": r"generation 2: intact",
    "maintain": r"(?m)^generation 2",
    "blame": r"(?m)^[12] \d{4}-\d\d-\d\d",
    "rollback": r"readers see generation 1 again; publishing is held|there was no hold",
    "doctor": r"ok +Python",
    "wiki": r"topic/leases|They end by themselves|^$",
}
"""What a command prints if it did what it is for, by its name; nothing where it wrote a file."""

LESS_TO_FIND = {'"tool_names=shop open"': "No evidence found"}


def _once(commands: tuple[Command, ...]) -> list[Command]:
    """Each command that is typed, from the first page that has it."""
    shown = {shortest(one.text) if one.is_synopsis else one.text: one for one in reversed(commands)}
    return [one for one in commands if typed_alone(one) and one in shown.values()]


@pytest.mark.parametrize("command", _once(every_command()), ids=str)
def test_a_command_of_the_manual_does_what_it_says(
    command: Command, reader: Reader, sitegraph: Sitegraph
) -> None:
    text = reader.here(shortest(command.text) if command.is_synopsis else command.text)
    ((words, variables),) = simple_commands(text)
    if "--model" in words:  # an index of another model is refused
        (reader.folder / "index").unlink()

    if words[0] == "sitegraph":
        done = sitegraph.call(*words[1:], **variables)
    else:
        done = typed(sitegraph, reader.folder, text)

    assert done.returncode == 0, done.stderr
    written = re.search(r"--output (\S+)", text)
    if written:
        assert (reader.folder / written[1]).stat().st_size > 0
    elif words[0] == "sitegraph":
        said = next((told for part, told in LESS_TO_FIND.items() if part in text), SAYS[words[1]])
        assert re.search(said, done.stdout), done.stdout
    else:
        assert isinstance(json.loads(done.stdout), list)
    if name := variables.get("SITEGRAPH_METRICS_FILE"):
        assert "sitegraph_last_run_state" in Path(name).read_text()


def test_commands_that_are_not_typed_here_are_named_with_the_reason() -> None:
    every = every_command()

    assert [
        reason for reason in (*ELSEWHERE, *NOT_HERE) if not any(begins(one, reason) for one in every)
    ] == []
    for where in ELSEWHERE.values():
        named = re.findall(r"tests/[\w/]+\.py", where)
        assert all((REPO / file).is_file() for file in named), where
        if where.startswith("test_"):
            assert where in globals()


def typed(sitegraph: Sitegraph, folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Type a line, or lines, into a shell that stops at what fails."""
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=folder,
        env=environment(sitegraph.environment),
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """With the programs of this environment, as after `pip install` and `activate`."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    return {**given, "PATH": path, "PYTHONPATH": os.fspath(REPO)}


@pytest.mark.dear("the whole quickstart, a process a command")
def test_the_quickstart_from_an_empty_folder_to_an_answer_over_http(
    sitegraph: Sitegraph, site: FolderServer, tmp_path: Path
) -> None:
    """Word for word, but for the address of the site, the port and the chunk id."""
    reader, port = Reader(tmp_path, site, ""), free_port()
    said = {}
    for text in commands_on("docs/quickstart.md"):
        if text.startswith("sitegraph serve"):
            break
        if text.startswith("sitegraph show"):
            asked = said['sitegraph query "how do I rotate the signing key" --index ./handbook-index --why']
            reader = Reader(tmp_path, site, re.findall(r"chunk:[a-z2-7]{26}", asked)[0])
        done = typed(sitegraph, tmp_path, reader.here(text))
        assert done.returncode == 0, (text, done.stderr)
        said[text] = done.stdout
    found = said['sitegraph query "how do I rotate the signing key"']
    assert "keys.html#rotation" in found.split("[S2]")[0]
    (shown, _) = [
        one.text for one in every_block() if (one.page, one.label) == ("docs/quickstart.md", "yaml")
    ]
    begins = shown.replace(SITE, f"{site.url}handbook/").replace("docs.example.org", "127.0.0.1").splitlines()
    written = [line.split(" #")[0].replace('"', "") for line in (tmp_path / "handbook.yaml").open()]
    assert [line.rstrip() for line in written if line[0] not in "#\n"][: len(begins)] == begins
    assert "generation 1 published" in said["sitegraph run handbook.yaml --index ./handbook-index"]
    assert "call the registrar" in list(said.values())[-1]
    _serves(sitegraph, tmp_path, port)
    (row, *_) = json.loads(typed(sitegraph, tmp_path, commands_on("docs/quickstart.md")[-1]).stdout)
    assert "call the registrar" in json.dumps(row)


def _serves(sitegraph: Sitegraph, folder: Path, port: int) -> None:
    """Serve as the page says, and ask as it says."""
    serve, ask = commands_on("docs/quickstart.md")[-3:-1]
    command = [*serve.split(), "--port", str(port), "--workers", "1"]
    with subprocess.Popen(
        ["env", *command],
        cwd=folder,
        env=environment(sitegraph.environment),
        stderr=subprocess.PIPE,
        text=True,
    ) as served:
        assert served.stderr is not None
        assert f":{port};" in served.stderr.readline()
        answered = typed(sitegraph, folder, ask.replace(":8000/", f":{port}/"))
        served.send_signal(signal.SIGTERM)
        served.wait(120)
    assert answered.returncode == 0, answered.stderr
    assert "call the registrar" in json.loads(answered.stdout)["evidence"][0]["text"]


@pytest.fixture(scope="module")
def quiet_reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `sources/`, of which the example is the manual itself."""
    folder = tmp_path_factory.mktemp("scheduled")
    shutil.copytree(REPO / "sources", folder / "sources")
    shutil.copytree(REPO / "docs" / "rules", folder / "docs")
    return folder


@pytest.mark.long
def test_schedules_and_alarms_from_nothing_to_a_run_that_was_scheduled(
    sitegraph: Sitegraph, quiet_reader: Path, tmp_path: Path
) -> None:
    """Word for word, but for the port and the folder of the index; then one of the runs is let run."""
    port, index = free_port(), tmp_path / "index"
    home = {**server_environment(tmp_path / "prefect", ""), "PREFECT_SERVER_API_PORT": str(port)}
    given = environment({**sitegraph.environment, **home, "PREFECT_SERVER_UI_ENABLED": "false"})
    del given["PREFECT_API_URL"]
    begun, deploying = (block.split("\n") for block in _blocks("docs/how-to/schedules-and-alarms.md"))
    server, export, pool, worker = begun

    def type_in(line: str) -> str:
        here = line.replace(" /data/index", f" {index}")
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", here],
            cwd=quiet_reader, env=given, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (here, done.stdout, done.stderr)
        return done.stdout

    with ExitStack() as running, receiver() as listening:
        log = tmp_path / "log"
        running.enter_context(running_process(server.split(), environment=given, log=log))
        given["PREFECT_API_URL"] = export.partition("=")[2].replace(":4200", f":{port}")
        poll(lambda: _answers(given["PREFECT_API_URL"]), timeout=240, what="the server")
        type_in(pool)
        type_in(_slack_block(listening.url))
        dry, real, listed = (type_in(line) for line in deploying)
        again = type_in("sitegraph deploy sources/ --index /data/index")
        given["SITEGRAPH_HOME"] = str(quiet_reader)
        running.enter_context(running_process(worker.split(), environment=given, log=tmp_path / "worker"))
        watched = type_in("prefect deployment run index-source/manual --watch")

    assert "index-source/manual" in dry
    assert "index-source/manual" in real
    assert "unchanged" in again
    assert "SCH" in listed, "the next runs are there"
    assert "Completed" in watched
    assert (index / "CURRENT").exists()
    assert listening.messages == [], "nothing went wrong, so nobody is told"


def _blocks(page: str) -> list[str]:
    """The blocks of commands of a page, a command a line."""
    found = [[one.text for one in commands_of(block)] for block in every_block() if block.page == page]
    return ["\n".join(lines) for lines in found if lines]


def _answers(url: str) -> bool | None:
    try:
        with urllib.request.urlopen(f"{url}/ready", timeout=60):
            return True
    except OSError:
        return None


def _slack_block(url: str) -> str:
    """The block slack-webhook/ops, as Prefect's pages make it."""
    made = f"SlackWebhook(url='{url}').save('ops')"
    return f'python -c "from prefect.blocks.notifications import SlackWebhook; {made}"'
