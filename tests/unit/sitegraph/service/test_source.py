"""What is handed out as the source: what the program is made of, and nothing else that lies among it."""

import io
import tarfile
from pathlib import Path

from sitegraph.service.source import source_archive


def names(root: Path) -> set[str]:
    with tarfile.open(fileobj=io.BytesIO(source_archive(root))) as tar:
        return set(tar.getnames())


def test_nothing_hidden_and_nothing_from_elsewhere_is_handed_out(tmp_path: Path) -> None:
    root, secret = tmp_path / "root", tmp_path / "secret.txt"
    secret.write_text("sesame")
    for name in ("pyproject.toml", "README.md", "LICENSE-NOTICE.md"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(name)
    for package in ("flows", "indexes", "ingest", "retrieval", "runtime", "schemas", "sitegraph"):
        (root / package).mkdir()
        (root / package / "__init__.py").write_text("")
    for name in ("sitegraph.toml", ".env", "flows/.env", "flows/.work/key.pem", "flows/.app.py.swp"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("sesame")
    (root / "flows" / "link.py").symlink_to(secret)

    assert names(root) == {
        *(f"sitegraph/{name}" for name in ("pyproject.toml", "README.md", "LICENSE-NOTICE.md")),
        *(
            f"sitegraph/{name}/__init__.py"
            for name in ("flows", "indexes", "ingest", "retrieval", "runtime", "schemas", "sitegraph")
        ),
    }


def test_what_a_wheel_installed_is_given_with_the_files_that_building_takes(tmp_path: Path) -> None:
    kept = tmp_path / "sitegraph" / "service" / "project"  # pyproject.toml: force-include
    kept.mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE-NOTICE.md"):
        (kept / name).write_text(name)
    (tmp_path / "sitegraph" / "__init__.py").write_text("")

    assert {"sitegraph/pyproject.toml", "sitegraph/sitegraph/__init__.py"} <= names(tmp_path)
    assert not any("service/project" in name for name in names(tmp_path))
