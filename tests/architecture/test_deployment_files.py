"""What deploy/ promises before anything is started: read from the files, never repeated here."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from importlib.metadata import distribution
from pathlib import Path
from unittest import mock
from urllib.parse import urlsplit

import pytest
import typer.main
import yaml
from packaging.requirements import Requirement

from runtime.source_file import load_source
from schemas.settings import load_settings
from sitegraph.cli.app import build_commands
from tests.fakes.compose_file import Compose, MissingVariable, Mount, Service, fill_in, read_compose
from tests.fakes.image_file import Stage, copies, is_ignored, read_patterns, read_stages

REPO = Path(__file__).resolve().parents[2]
DEPLOY = REPO / "deploy"
PASSWORD = "p@ss/w:rd#%"
SECRETS = {"SITEGRAPH_PASSWORD": PASSWORD, "SITEGRAPH_SERVE_TOKEN": "a token"}
ONE_SHOT = {"deploy"}
HOOK = "https://hooks.example.org/alarms"
DEV = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]["optional-dependencies"]["dev"]


@pytest.fixture(scope="module")
def compose() -> Compose:
    return read_compose(DEPLOY / "compose.yaml", environ=SECRETS)


@pytest.fixture(scope="module")
def with_neo4j() -> Compose:
    return read_compose(DEPLOY / "compose.yaml", DEPLOY / "compose.neo4j.yaml", environ=SECRETS)


def test_every_service_comes_back_after_a_crash_and_says_when_it_is_ready(with_neo4j: Compose) -> None:
    lasting = {name: one for name, one in with_neo4j.services.items() if name not in ONE_SHOT}

    assert {one.restart for one in lasting.values()} == {"unless-stopped"}
    assert {with_neo4j.services[name].restart for name in ONE_SHOT} == {"on-failure"}
    assert [name for name, one in lasting.items() if one.test is None] == []


def test_the_index_lies_on_a_volume_that_the_worker_writes_and_serve_only_reads(compose: Compose) -> None:
    worker, serve = compose.services["worker"], compose.services["serve"]
    index = _environment(worker)["SITEGRAPH_INDEX"]

    assert index == _environment(serve)["SITEGRAPH_INDEX"]
    written, read = _mount_of(worker, index), _mount_of(serve, index)
    assert (written.named, written.read_only) == (True, False)
    assert (read.source, read.read_only) == (written.source, True)
    # The usage log lies beside the index, and serve keeps it.
    assert not _mount_of(serve, f"{index}.logs/queries.jsonl").read_only


def test_the_deployments_run_in_the_pool_that_the_worker_polls_and_name_no_index(compose: Compose) -> None:
    command, worker = compose.services["deploy"].command, compose.services["worker"].command
    assert command is not None
    assert worker is not None

    assert command[:2] == ("sitegraph", "deploy")
    assert "--index" not in command
    assert worker[worker.index("--pool") + 1] == "sitegraph", "the default of --pool"


@pytest.mark.parametrize(
    ("given", "notify", "maintain"),
    [
        ({}, None, "0 4 * * 0"),
        ({"SITEGRAPH_NOTIFY": HOOK, "SITEGRAPH_MAINTAIN": "none"}, HOOK, "none"),
    ],
)
def test_alarms_and_maintenance_are_deployed_as_the_environment_says(
    given: dict[str, str], notify: str | None, maintain: str
) -> None:
    service = read_compose(DEPLOY / "compose.yaml", environ={**SECRETS, **given}).services["deploy"]

    assert _deploy_options(service.command or (), service.environment) == (notify, maintain)


def test_maintenance_is_deployed_on_kubernetes_too_and_alarms_as_the_secret_says() -> None:
    parts = yaml.safe_load_all((DEPLOY / "kubernetes" / "sitegraph.yaml").read_text(encoding="utf-8"))
    (job,) = [part for part in parts if part["kind"] == "Job"]
    (container,) = job["spec"]["template"]["spec"]["containers"]
    secret = {"SITEGRAPH_NOTIFY": "slack-webhook/ops"}

    given = {one["name"]: one["value"] for one in container["env"]} | secret
    assert container["envFrom"] == [{"secretRef": {"name": "sitegraph"}}]
    assert _deploy_options(container["args"], given) == ("slack-webhook/ops", "0 4 * * 0")


def test_every_source_that_is_deployed_is_there_and_can_be_read(compose: Compose) -> None:
    command = compose.services["deploy"].command
    assert command is not None
    folder = REPO / command[-1]
    named = [path.relative_to(REPO) for path in folder.glob("*.yaml")]

    assert named
    for source in named:
        roots = load_source(REPO / source).roots
        assert all(Path(root).is_dir() for root in roots)
        # In the image the folders lie as in the checkout.
        copied = {Path(target) for stage in _stages() for _, target in copies(stage)}
        home = Path(_environment(compose.services["worker"])["SITEGRAPH_HOME"])
        assert {home / Path(root).relative_to(REPO) for root in roots} <= copied
        assert home / Path(source).parent in copied


def test_a_password_of_any_characters_reaches_every_service_whole(with_neo4j: Compose) -> None:
    for name, service in with_neo4j.services.items():
        for variable, value in service.environment.items():
            if "://" in value:
                url = urlsplit(value)
                assert PASSWORD not in value, f"{name} has the password in the URL of {variable}"
                assert url.hostname in {*with_neo4j.services, "localhost"}
                assert url.port is None or url.port > 0
        given = {value for value in service.environment.values() if PASSWORD in value}
        assert given <= {PASSWORD}, f"{name} gets the password as a part of something"


def test_nothing_starts_without_the_secrets() -> None:
    for missing in SECRETS:
        with pytest.raises(MissingVariable, match=missing):
            read_compose(DEPLOY / "compose.yaml", environ={**SECRETS, missing: ""})


def test_the_example_of_the_environment_names_what_the_files_ask_for() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in DEPLOY.glob("compose*.yaml"))
    asked = {name for name in re.findall(r"(?<!\$)\$\{(\w+)", text) if name.isupper()}
    shown = re.findall(r"^#?([A-Z_]+)=", (DEPLOY / "env.example").read_text(encoding="utf-8"), re.MULTILINE)

    assert set(shown) == asked


def test_neo4j_holds_the_graph_wherever_it_is_started(compose: Compose, with_neo4j: Compose) -> None:
    assert "neo4j" not in compose.services
    assert all("neo4j" not in service.needs for service in compose.services.values())
    for name in ("worker", "serve"):
        settings = load_settings(with_neo4j.services[name].environment)
        assert (settings.graph, settings.neo4j_password) == ("neo4j", PASSWORD)
        assert urlsplit(settings.neo4j_uri or "").hostname == "neo4j"
        assert with_neo4j.services[name].needs["neo4j"] == "service_healthy"


def test_neo4j_is_given_its_first_password_as_it_is(with_neo4j: Compose, tmp_path: Path) -> None:
    service = with_neo4j.services["neo4j"]
    admin = tmp_path / "neo4j-admin"
    admin.write_text('#!/bin/sh\nfor word; do printf "%s\\n" "$word"; done\n')
    admin.chmod(0o755)
    assert service.entrypoint is not None
    script = service.entrypoint[service.entrypoint.index("bash") :]

    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", **service.environment}
    told = subprocess.run(script, env=environment, capture_output=True, text=True, check=False, timeout=120)

    assert told.stdout.splitlines() == ["dbms", "set-initial-password", "--", PASSWORD]
    assert "/startup/docker-entrypoint.sh" in told.stderr, "it goes on with what the image starts with"


def test_the_image_runs_as_a_user_without_rights() -> None:
    uid, _, gid = _stages()[-1].last("USER").partition(":")

    assert int(uid) > 0
    assert int(gid) > 0


def test_the_image_holds_what_runs_and_nothing_of_development() -> None:
    installs = " ".join(_stages()[0].texts("RUN"))
    (extras,) = re.findall(r'"\.\[([a-z0-9,]+)\]"', installs)
    wanted, of_dev = _closure("sitegraph", set(extras.split(","))), set(map(_name, DEV))

    assert set(extras.split(",")) == {
        *("pipeline", "serve", "mcp", "postgres", "s3", "js", "nlp", "otel", "openlineage"),
        *("docker", "kubernetes"),
    }
    assert {"prefect", "torch", "uvicorn", "psycopg", "s3fs", "playwright"} <= wanted
    assert of_dev & wanted == {"networkx"}, "which PyTorch needs as well"
    assert "mkdocs" not in wanted


def test_the_image_has_the_locked_versions_by_their_hashes_and_pytorch_for_the_processor() -> None:
    build = _stages()[0]
    runs = build.texts("RUN")

    for command in (part.strip() for run in runs for part in re.split(r"&&|;", run) if "pip install" in part):
        by_hash = {"--require-hashes", "--constraints"} & set(command.split())
        own_code = {"--no-deps", "."} <= set(command.split())
        torch = "--torch-backend" in command
        assert by_hash or own_code or torch, command
    assert "TORCH_BACKEND=cpu" in build.texts("ARG")
    lock = (REPO / "requirements.lock").read_text(encoding="utf-8")
    assert len(re.findall(r"^torch==", lock, re.MULTILINE)) == 1


def test_the_recipe_for_the_installer_takes_exactly_its_entry_of_the_lock(tmp_path: Path) -> None:
    (command,) = [run for run in _stages()[0].texts("RUN") if run.startswith("awk ")]
    script = command.partition(" > ")[0]

    taken = subprocess.check_output(["sh", "-c", script], cwd=REPO, text=True)

    lines = taken.splitlines()
    assert re.fullmatch(r"uv==[\d.]+ \\", lines[0])
    assert all(re.match(r"    (--hash=sha256:|# )", line) for line in lines[1:])
    assert sum("--hash" in line for line in lines) > 5


def test_the_installer_refuses_a_package_that_is_not_the_locked_one(tmp_path: Path) -> None:
    """`--constraints` is said to check hashes: seen here on the smallest of the wheels."""
    wheel = _small_wheel(tmp_path)
    lock = tmp_path / "lock"
    lock.write_text(f"tiny==1.0 --hash=sha256:{'0' * 64}\n")
    command = [
        Path(sys.executable).with_name("uv"),
        "pip",
        "install",
        "--offline",
        "--no-index",
        "--no-cache",
    ]
    command += ["--find-links", wheel.parent, "--target", tmp_path / "target", "--constraints", lock, "tiny"]

    refused = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    lock.write_text("tiny==1.0\n")
    taken = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)

    assert refused.returncode != 0
    assert "hash" in refused.stderr.lower()
    assert taken.returncode == 0, taken.stderr


def test_the_image_is_built_from_every_package_of_the_wheel() -> None:
    wheel = tomllib.loads((REPO / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    copied = {source for stage in _stages() for sources, _ in copies(stage) for source in sources}

    assert set(wheel["packages"]) - copied == set()


def test_chromium_and_tesseract_are_in_the_image() -> None:
    (line,) = [run for run in _stages()[-1].texts("RUN") if "apt-get install" in run]

    assert {"chromium", "tesseract-ocr", "--no-install-recommends"} <= set(line.split())


def test_the_build_context_leaves_out_what_is_not_for_the_image() -> None:
    patterns = read_patterns(REPO / ".dockerignore")
    left_out = (
        ".venv/bin/python",
        ".git/config",
        ".sitegraph/index.json",
        "deploy/.env",
        "deploy/sitegraph.env",
    )
    left_out += ("flows/__pycache__/app.pyc", "sources/.env", "bench/pipeline.py", "tests/conftest.py")

    assert [path for path in left_out if not is_ignored(path, patterns)] == []
    for stage in _stages():
        for sources, _ in copies(stage):
            for source in sources:
                inside = source if (REPO / source).is_file() else f"{source}/file"
                assert not is_ignored(inside, patterns), source


def test_variables_are_filled_in_as_compose_does() -> None:
    environ = {"A": "1", "EMPTY": "", "PASSWORD": "$A${A}"}

    assert fill_in("$A ${A} ${B:-2} ${EMPTY:-3} ${EMPTY-4} ${A:+5}${B:+6} $$A", environ) == "1 1 2 3  5 $A"
    assert fill_in("${PASSWORD}", environ) == "$A${A}", "what a variable holds is taken as it is"


def _deploy_options(command: Sequence[str], environ: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Whom `sitegraph deploy` lets alarms tell, and when it has the index maintained."""
    deploy = typer.main.get_command(build_commands()).commands["deploy"]  # type: ignore[attr-defined]
    with mock.patch.dict(os.environ, environ):
        context = deploy.make_context("deploy", list(command[2:]), resilient_parsing=False)
    return context.params["notify"], context.params["maintain"]


def _stages() -> tuple[Stage, ...]:
    return read_stages(DEPLOY / "Dockerfile")


def _environment(service: Service) -> dict[str, str]:
    return {**read_stages(DEPLOY / "Dockerfile")[-1].environment({}), **service.environment}


def _mount_of(service: Service, path: str) -> Mount:
    inside = [mount for mount in service.mounts if Path(path).is_relative_to(mount.target)]
    return max(inside, key=lambda mount: len(mount.target))


def _closure(name: str, extras: set[str]) -> set[str]:
    """Everything that a distribution needs here, by the metadata of what is installed."""
    found: set[str] = set()
    open_ = [(name, frozenset(extras))]
    seen = set()
    while open_:
        entry = open_.pop()
        if entry in seen:
            continue
        seen.add(entry)
        found.add(_name(entry[0]))
        for line in distribution(entry[0]).requires or ():
            wanted = Requirement(line)
            marks = [{"extra": extra} for extra in entry[1] | {""}]
            if wanted.marker is None or any(wanted.marker.evaluate(mark) for mark in marks):
                open_.append((wanted.name, frozenset(wanted.extras)))
    return found - {_name(name)}


def _name(line: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~; ]", line)[0]).lower()


def _small_wheel(folder: Path) -> Path:
    wheel = folder / "links" / "tiny-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "")
        archive.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(
            "tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    return wheel
