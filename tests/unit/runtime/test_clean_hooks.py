"""A hook is found beside the source file or among what is installed, else refused in one line."""

import subprocess
import sys
from pathlib import Path

import pytest

from runtime.clean_hooks import HookError, find_hook, load_hook

GOOD = "def tidy(soup):\n    soup.append('seen')\n"


def write(folder: Path, text: str = GOOD, name: str = "cleaning.py") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def refusal(name: str, folder: Path) -> str:
    with pytest.raises(HookError) as caught:
        find_hook(name, folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_module_beside_the_source_file_is_found_and_loaded_from_its_own_file(tmp_path: Path) -> None:
    path = write(tmp_path)
    hook = find_hook("cleaning:tidy", tmp_path)
    page: list[str] = []

    load_hook(hook)(page)

    assert (hook.path, hook.beside, page) == (str(path), True, ["seen"])
    assert "cleaning" not in sys.modules
    assert not list(tmp_path.rglob("__pycache__"))


def test_a_module_in_a_package_beside_the_source_file_is_found(tmp_path: Path) -> None:
    path = write(tmp_path, name="house/rules/web.py")
    assert find_hook("house.rules.web:tidy", tmp_path).path == str(path)


def test_what_is_installed_is_found_where_nothing_lies_beside_the_source_file(tmp_path: Path) -> None:
    hook = find_hook("textwrap:dedent", tmp_path)
    assert (Path(hook.path).name, hook.beside) == ("textwrap.py", False)
    assert load_hook(hook)("  x") == "x"


def test_a_file_named_as_a_module_of_python_stands_in_for_none(tmp_path: Path) -> None:
    write(tmp_path, "import json\ndef tidy(soup):\n    return json.dumps(1)\n", name="json.py")
    assert load_hook(find_hook("json:tidy", tmp_path))(None) == "1"


def test_the_working_folder_is_no_place_to_find_hooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "work")
    (tmp_path / "conf").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    assert refusal("cleaning:tidy", tmp_path / "conf") == (
        f"there is neither a file {tmp_path}/conf/cleaning.py nor an installed module cleaning"
    )


def test_an_edited_hook_is_another_even_within_one_second_and_of_one_size(tmp_path: Path) -> None:
    write(tmp_path, GOOD + "# first\n")
    before = find_hook("cleaning:tidy", tmp_path)
    write(tmp_path, GOOD.replace("seen", "SEEN") + "# first\n")

    after = find_hook("cleaning:tidy", tmp_path)

    assert before.sha256 != after.sha256
    page: list[str] = []
    load_hook(after)(page)
    assert page == ["SEEN"]
    with pytest.raises(HookError, match="has changed since the run began; run again"):
        load_hook(before)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "import no_such_package\n",
            "cannot be imported: ModuleNotFoundError: No module named 'no_such_package'",
        ),
        ("def tidy(soup:\n", "cannot be imported: SyntaxError: '(' was never closed (line 1)"),
        ("raise SystemExit('no')\n", "cannot be imported: SystemExit: no"),
        ("1 / 0\n", "cannot be imported: ZeroDivisionError: division by zero"),
        ("import os\nos._exit(3)\n", "its import ended Python (exit 3)"),
        ("def clean(soup): ...\n", "cleaning has no function tidy; its functions: clean"),
        ("tidy = 3\n", "cleaning has no function tidy"),
        ("def tidy(soup, url): ...\n", "tidy should take one argument, the page as a BeautifulSoup"),
        ("def tidy(): ...\n", "tidy should take one argument, the page as a BeautifulSoup"),
    ],
)
def test_a_module_that_holds_no_hook_is_refused_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    write(tmp_path, text)
    assert refusal("cleaning:tidy", tmp_path) == told


def test_what_a_module_prints_when_it_is_imported_spoils_nothing(tmp_path: Path) -> None:
    write(tmp_path, f"import os\nprint('hello')\nos.write(1, b'there')\n{GOOD}")
    assert find_hook("cleaning:tidy", tmp_path).name == "cleaning:tidy"


def test_a_source_file_without_cleaning_imports_no_bs4() -> None:
    """In a process of its own, since other tests import it."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom runtime.source_file import parse_source\n"
        "parse_source('name: a\\nkind: files\\nroots: [a]\\n', subject='a', folder=Path('/'))\n"
        "import ingest.parse.html.page, ingest.parse.document, ingest.parse.inspection\n"
        "sys.exit('bs4' in sys.modules or 'soupsieve' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
