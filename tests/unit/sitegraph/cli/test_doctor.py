"""`sitegraph doctor`: what is needed decides, each lack has a line to type, and no secret is printed."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import fields, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from indexes.layout import IndexLayout, VectorSpace, load_manifest
from indexes.markers import CopyMarker, write_marker
from indexes.publish.current import write_current
from indexes.publish.generation import dump_generation, load_generation
from schemas.redaction import REDACTED
from schemas.settings import EXTRAS, Settings
from schemas.source import Source
from sitegraph.actions import probes
from sitegraph.actions.needs import CheckResult, CheckState, exit_code_of, needs_of
from sitegraph.cli.app import run_app

CLOSED = "127.0.0.1:9"
SECRET = "s3cr3t"
Examined = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def examined(capsys: pytest.CaptureFixture[str]) -> Examined:
    """Runs doctor; gives the exit code, and the findings by subject."""

    def run(*arguments: str) -> tuple[int, dict[str, Any]]:
        code = run_app(["doctor", *arguments, "--format", "json"])
        out, err = capsys.readouterr()
        assert SECRET not in out + err
        assert err == ""
        return code, {one["subject"]: one for one in json.loads(out)["findings"]}

    return run


def test_a_machine_that_has_what_is_needed_is_exit_code_0(examined: Examined, folder: Path) -> None:
    code, found = examined("--index", str(folder))

    assert code == 0, found
    assert found["encoder"]["health"] == "ok"
    assert {one["health"] for one in found.values()} <= {"ok", "optional"}


@pytest.mark.parametrize(
    ("keep", "code", "health"), [("within=7d,weekly=52", 0, "ok"), ("hourly=3", 2, "missing")]
)
def test_the_rules_of_what_is_kept_are_read(
    examined: Examined, folder: Path, monkeypatch: pytest.MonkeyPatch, keep: str, code: int, health: str
) -> None:
    monkeypatch.setenv("SITEGRAPH_KEEP", keep)

    ended, found = examined("--index", str(folder))

    assert (ended, found["SITEGRAPH_KEEP"]["health"]) == (code, health)
    assert keep in found["SITEGRAPH_KEEP"]["told"]


def test_each_lack_has_a_line_to_type(
    examined: Examined, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")

    code, found = examined("--index", str(folder))

    assert code == 0, "nothing configured needs them"
    for subject in ("Tesseract", "Chromium", "Java"):
        assert found[subject]["health"] == "optional"
        assert found[subject]["remedy"].startswith("apt-get install")


def test_a_source_that_recognises_scans_needs_tesseract_and_its_languages(
    examined: Examined, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scans.yaml").write_text("name: scans\nkind: files\nroots: [.]\nocr: [eng, xyz]\n")

    code, found = examined("scans.yaml")
    assert (code, found["Tesseract"]["health"]) == (2, "missing")
    assert "tesseract-ocr-xyz" in found["Tesseract"]["remedy"]

    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert "tesseract-ocr-eng" in examined("scans.yaml")[1]["Tesseract"]["remedy"]


def test_servers_that_do_not_answer_are_exit_code_3_and_passwords_stay_secret(
    examined: Examined, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "PREFECT_API_URL": f"http://anna:{SECRET}@{CLOSED}/api",
        "SITEGRAPH_LEDGER_URL": f"postgresql://anna:{SECRET}@{CLOSED}/docs",
        "SITEGRAPH_GRAPH": "neo4j",
        "SITEGRAPH_NEO4J_URI": f"bolt://{CLOSED}",
        "SITEGRAPH_NEO4J_PASSWORD": SECRET,
    }.items():
        monkeypatch.setenv(name, value)

    code, found = examined("--index", "index")

    assert code == 3
    assert {name for name, one in found.items() if one["health"] == "unreachable"} == {
        "Prefect server", "PostgreSQL", "Neo4j",
    }  # fmt: skip
    assert all(one["remedy"] for one in found.values() if one["health"] != "ok")


def test_settings_are_told_as_they_are_in_effect_and_of_secrets_that_they_are_set(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = {setting.name for setting in fields(Settings) if not setting.repr}
    for name in secret:
        monkeypatch.setenv(f"SITEGRAPH_{name.upper()}", f"sqlite:///{SECRET}.sqlite")
    monkeypatch.setenv("SITEGRAPH_WORKERS", "3")
    (tmp_path / "sitegraph.toml").write_text(
        f'workers = 8\nthreads = 4\nllm_url = "http://anna:{SECRET}@{CLOSED}/v1"\n'
    )

    run_app(["doctor", "--index", "index", "--format", "json"])
    out = capsys.readouterr().out
    told = json.loads(out)["settings"]

    assert SECRET not in out
    assert set(told) == {setting.name for setting in fields(Settings)}
    assert {name for name, value in told.items() if value == REDACTED} == secret
    assert (told["index"], told["workers"], told["threads"], told["batch_size"]) == ("index", 3, 4, 16)
    assert told["llm_url"] == f"http://***@{CLOSED}/v1"

    run_app(["doctor", "--index", "index"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("setting")]
    assert {line[1].rstrip(":") for line in lines} == {"index", "workers", "threads", "llm_url", *secret}


def test_what_is_set_up_for_neo4j_and_has_no_address_is_missing(
    examined: Examined, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SITEGRAPH_GRAPH", "neo4j")

    code, found = examined("--index", "index")

    assert (code, found["Neo4j"]["health"]) == (2, "missing")


def test_an_encoder_that_is_damaged_is_found(examined: Examined, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "index")
    (tmp_path / "index" / "encoder" / "tokenizer.json").write_text("{}")

    code, found = examined("--index", "index")

    assert (code, "tokenizer.json" in found["encoder"]["told"]) == (2, True)
    assert found["encoder"]["remedy"] == "sitegraph repair --index index"


def test_after_a_change_of_model_the_encoder_that_readers_open_is_looked_at(
    examined: Examined, folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "index")
    layout = IndexLayout(tmp_path / "index")
    shutil.copytree(layout.encoder, layout.root / "encoder-2")
    space = VectorSpace(model=load_manifest(layout).model, table="chunks-2", encoder="encoder-2")
    dump_generation(layout, replace(load_generation(layout, 1), generation=2, space=space))
    write_current(layout.root, 2)

    (layout.encoder / "tokenizer.json").write_text("{}")
    assert examined("--index", "index")[0] == 0, "no reader opens this one any more"

    (layout.root / "encoder-2" / "tokenizer.json").write_text("{}")
    code, found = examined("--index", "index")
    assert (code, "encoder-2" in found["encoder"]["told"]) == (2, True)


def _delete(ledger: Path) -> None:
    ledger.unlink()


def _damage(ledger: Path) -> None:
    ledger.write_bytes(b"no database at all" * 100)


def _write_as_another_version(ledger: Path) -> None:
    with closing(sqlite3.connect(ledger)) as connection:
        connection.execute("ALTER TABLE source RENAME COLUMN record TO text")


@pytest.mark.parametrize(
    ("harm", "told", "remedy"),
    [
        (_delete, "has no ledger here", "sitegraph run SOURCE.yaml --index index"),
        (_damage, "not a database", "sitegraph repair --index index"),
        (
            _write_as_another_version,
            "was made by another version",
            "sitegraph run SOURCE.yaml --index NEW_FOLDER",
        ),
    ],
)
def test_a_ledger_that_is_lost_or_unreadable_is_found(
    examined: Examined, folder: Path, tmp_path: Path, harm: Callable[[Path], None], told: str, remedy: str
) -> None:
    shutil.copytree(folder, tmp_path / "index")
    harm(tmp_path / "index" / "ledger.sqlite")

    code, found = examined("--index", "index")

    assert (code, found["ledger"]["health"]) == (2, "missing")
    assert told in found["ledger"]["told"]
    assert found["ledger"]["remedy"].startswith(remedy)


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """An index as a pull leaves it, without a ledger."""
    shutil.copytree(folder, tmp_path / "copy", ignore=shutil.ignore_patterns("ledger*"))
    write_marker(tmp_path / "copy", CopyMarker(url="https://docs.example.org/index"))
    return tmp_path / "copy"


def test_a_copy_needs_no_ledger(examined: Examined, copy: Path) -> None:
    code, found = examined("--index", str(copy))

    assert (code, found["ledger"]["health"], found["ledger"]["remedy"]) == (0, "ok", None), found
    assert found["ledger"]["told"] == "not needed: the index is a copy of https://docs.example.org/index"


def test_of_a_copy_no_run_is_a_remedy(
    examined: Examined, copy: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SITEGRAPH_LEDGER_URL", f"sqlite:///{tmp_path}/nowhere.sqlite")

    code, found = examined("--index", str(copy))

    assert (code, found["ledger"]["health"]) == (2, "missing")
    assert found["ledger"]["remedy"].startswith("unset SITEGRAPH_LEDGER_URL")


def test_the_ledger_is_only_read(
    examined: Examined, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(folder, tmp_path / "index")
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "index").glob("ledger*")}
    monkeypatch.setattr("indexes.stores.ledger.engine._create_engine", pytest.fail)

    assert examined("--index", "index")[0] == 0

    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "index").glob("ledger*")}
    assert after == before


def test_a_server_of_the_ledger_that_is_away_is_told_once(
    examined: Examined, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SITEGRAPH_LEDGER_URL", f"postgresql://anna:{SECRET}@{CLOSED}/docs")

    code, found = examined("--index", str(folder))

    assert (code, found["PostgreSQL"]["health"], "ledger" in found) == (3, "unreachable", False)


def test_a_generation_that_cannot_be_read_is_found(examined: Examined, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "index")
    (tmp_path / "index" / "CURRENT").write_text("none")

    code, found = examined("--index", "index")

    assert (code, found["index"]["remedy"]) == (2, "sitegraph verify --index index")


@pytest.mark.parametrize(
    ("variable", "module", "extra"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "opentelemetry.sdk", "otel"),
        ("OPENLINEAGE_URL", "openlineage.client", "openlineage"),
        ("SITEGRAPH_METRICS_FILE", "prometheus_client", "light"),
    ],
)
def test_what_is_configured_for_those_who_watch_needs_its_extra(
    examined: Examined,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    module: str,
    extra: str,
) -> None:
    monkeypatch.setattr(
        "sitegraph.actions.probes.find_spec", lambda name: None if name == module else find_spec(name)
    )
    assert examined("--index", str(folder))[1][f"extra {extra}"]["health"] == "optional"

    monkeypatch.setenv(variable, f"http://{CLOSED}")
    code, found = examined("--index", str(folder))

    assert (code, found[f"extra {extra}"]["health"]) == (2, "missing")
    assert found[f"extra {extra}"]["remedy"] == f'pip install "sitegraph[{extra}]"'


def test_an_extra_whose_outermost_package_is_not_there_is_not_installed(
    examined: Examined, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXTRAS, "llamaindex", ("no_such_package.core",))

    assert examined("--index", "index")[1]["extra llamaindex"]["health"] == "optional"


def test_a_folder_where_no_index_can_be_made_is_found(examined: Examined, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")

    code, found = examined("--index", "taken/index")

    assert code == 2
    assert found["index folder taken/index"]["health"] == "missing"


def test_people_get_a_line_for_each_and_the_line_to_type_below(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")

    assert run_app(["doctor", "--index", str(folder)]) == 0

    lines = capsys.readouterr().out.splitlines()
    place = next(number for number, line in enumerate(lines) if "Java" in line)
    assert lines[place].startswith("optional")
    assert lines[place + 1].strip().startswith("apt-get install")


@pytest.mark.parametrize(
    ("states", "code"),
    [
        ((CheckState.OK, CheckState.OPTIONAL), 0),
        ((CheckState.OK, CheckState.UNREACHABLE), 3),
        ((CheckState.MISSING, CheckState.UNREACHABLE), 2),
    ],
)
def test_the_exit_code_is_that_of_the_worst(states: tuple[CheckState, ...], code: int) -> None:
    assert exit_code_of(CheckResult(subject="x", health=state, told="") for state in states) == code


def test_needs_follow_from_settings_sources_and_index() -> None:
    sources = [Source(name="a", kind="web", javascript=True), Source(name="b", kind="files", ocr=("deu",))]

    whole = needs_of(Settings(ledger_url="postgresql://h/d", spacy="en"), sources, has_index=False)
    reading = needs_of(Settings(), (), has_index=True, graph="neo4j", raw="s3://docs/raw")

    assert whole.extras == {"light", "postgres", "js", "nlp"}
    assert (whole.languages, whole.chromium, whole.neo4j) == (("deu",), True, False)
    assert reading.extras == {"s3"}
    assert (reading.neo4j, reading.raw_url) == (True, "s3://docs/raw")


def test_variables_of_those_who_watch_are_needs() -> None:
    environ = {"OTEL_TRACES_EXPORTER": "otlp", "OPENLINEAGE_CONFIG": "lineage.yml"}

    watched = needs_of(Settings(metrics_file="runs.prom"), (), has_index=True, environ=environ)

    assert watched.extras == {"light", "otel", "openlineage"}


def test_a_folder_that_may_not_be_entered_is_looked_for_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"

    def refuse(path: Any, **options: Any) -> os.stat_result:
        if str(path).startswith(str(closed)):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, **options)

    real = os.stat
    monkeypatch.setattr(os, "stat", refuse)
    assert probes.existing(closed / "index") == tmp_path


def test_a_bucket_that_does_not_answer_is_unreachable_and_names_what_to_check(
    examined: Examined, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{CLOSED}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "someone")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")

    code, found = examined("--index", "s3://docs/index")

    assert code == 3, found
    listed = found["index s3://docs/index"]
    assert listed["health"] == "unreachable", listed
    assert listed["remedy"] == "check --index, AWS_ENDPOINT_URL and the login"
