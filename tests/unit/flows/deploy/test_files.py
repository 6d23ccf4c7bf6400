"""Which files a call of `deploy` means."""

from pathlib import Path

import pytest

from flows.deploy.deploy import read_files
from schemas.errors import ConfigError


def write(path: Path, name: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"name: {name}\nkind: files\nroots: [texts]\n")
    return path


def test_a_folder_is_all_source_files_in_it_and_other_yaml_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "b.yaml", "b")
    write(tmp_path / "a.yml", "a")
    write(tmp_path / "below" / "c.yaml", "c")
    (tmp_path / "tools.yaml").write_text("tools: []\n")

    named = read_files([tmp_path, tmp_path / "b.yaml"])

    assert [source.name for source in named.files.values()] == ["b", "a"]
    assert named.folders == (tmp_path,)
    assert named.passed_over == (tmp_path / "tools.yaml",)


def test_a_linked_file_has_one_path_however_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "h.yaml").symlink_to(write(tmp_path / "..data" / "h.yaml", "h"))

    for named in ([tmp_path / "s"], [tmp_path / "s" / "h.yaml"], [tmp_path / "s", tmp_path / "s" / "h.yaml"]):
        assert list(read_files(named).files) == [tmp_path / "s" / "h.yaml"]


def test_an_empty_folder_is_fine_since_its_sources_may_all_have_gone(tmp_path: Path) -> None:
    assert read_files([tmp_path]).files == {}


def test_two_sources_of_one_name_are_an_error(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", "same")
    write(tmp_path / "b.yaml", "same")

    with pytest.raises(ConfigError, match=r"b\.yaml: has the name same of .*a\.yaml"):
        read_files([tmp_path])


def test_a_file_in_a_folder_that_is_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", "a").write_text("name: a\nkind: files\nroots: [texts]\nschedule: 0 3 * *\n")
    with pytest.raises(ConfigError, match=r"a\.yaml: line 4: schedule: '0 3 \* \*'"):
        read_files([tmp_path])
    (tmp_path / "a.yaml").write_text("name: [\n")
    with pytest.raises(ConfigError, match="not valid YAML"):
        read_files([tmp_path])


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_files([tmp_path / "nowhere.yaml"])
