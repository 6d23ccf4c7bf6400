"""Whether a server may be configured, told from the places where Prefect looks for one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows.run.prefect_server import may_be_configured

URL = "http://127.0.0.1:4200/api"
PROFILE = f'active = "mine"\n[profiles.mine]\nPREFECT_API_URL = "{URL}"\n'
PLACES = {
    "nothing": ({}, {}),
    "another variable": ({"PREFECT_LOGGING_LEVEL": "INFO"}, {}),
    "an empty variable": ({"PREFECT_API_URL": ""}, {}),
    "a dependency": ({}, {"pyproject.toml": '[project]\nname = "x"\ndependencies = ["prefect"]\n'}),
    "another line": ({}, {".env": "PREFECT_LOGGING_LEVEL=INFO\nX=PREFECT_API_URL\n"}),
    "the variable": ({"PREFECT_API_URL": URL}, {}),
    "the variable in small letters": ({"prefect_api_url": URL}, {}),
    "a profile of Prefect's own": ({"PREFECT_PROFILE": "local"}, {}),
    "a profile": ({}, {"home/profiles.toml": PROFILE}),
    "profiles elsewhere": ({"PREFECT_PROFILES_PATH": "mine.toml"}, {"mine.toml": PROFILE}),
    "a line of .env": ({}, {".env": f"PREFECT_API_URL={URL}\n"}),
    "a home in .env": ({}, {".env": "PREFECT_HOME=other\n", "other/profiles.toml": PROFILE}),
    "prefect.toml": ({}, {"prefect.toml": f'[api]\nurl = "{URL}"\n'}),
    "pyproject.toml": ({}, {"pyproject.toml": f'[tool.prefect.api]\nurl = "{URL}"\n'}),
}
NONE_THERE = ("nothing", "another variable", "an empty variable", "a dependency", "another line")


def set_up(folder: Path, place: str) -> dict[str, str]:
    variables, files = PLACES[place]
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return {"PREFECT_HOME": str(folder / "home"), **variables}


@pytest.mark.parametrize("place", PLACES)
def test_a_server_may_be_configured_wherever_prefect_looks(tmp_path: Path, place: str) -> None:
    environ = set_up(tmp_path, place)

    assert may_be_configured(environ, tmp_path) is (place not in NONE_THERE)


@pytest.mark.parametrize("place", ["nothing", "a profile", "prefect.toml", "a line of .env"])
def test_prefect_finds_a_server_where_one_may_be_configured(tmp_path: Path, place: str) -> None:
    environ = {k: v for k, v in os.environ.items() if not k.upper().startswith("PREFECT")}
    command = [
        sys.executable,
        "-P",
        "-c",
        "from prefect.settings import PREFECT_API_URL as u; print(u.value())",
    ]

    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**environ, **set_up(tmp_path, place)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert (done.stdout.strip() == URL) is may_be_configured(set_up(tmp_path, place), tmp_path)
