"""Each in a process of its own: what is imported once stays."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[5]

LOADED = "[n for n in sys.modules if n.startswith('lance_namespace') and sys.modules[n].__spec__.origin]"


def run(folder: Path, *lines: str) -> list[str]:
    """What the lines print, with a database in the folder at hand."""
    opening = (
        "import sys",
        "import indexes.stores.lance",
        "import lancedb",
        "db = lancedb.connect(sys.argv[1])",
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n".join((*opening, *lines)), str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_tables_are_written_and_read_without_the_client_of_catalogues(tmp_path: Path) -> None:
    said = run(
        tmp_path,
        "table = db.create_table('notes', [{'text': 'lamp'}])",
        "print(table.search().to_list()[0]['text'])",
        f"print({LOADED})",
    )
    assert said == ["lamp", "[]"]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="lancedb takes typing.override")
def test_methods_are_not_checked_and_others_get_the_package_that_checks(tmp_path: Path) -> None:
    said = run(
        tmp_path,
        "print('overrides' in sys.modules)",
        "from lancedb.db import LanceDBConnection",
        "print(LanceDBConnection.open_table.__qualname__)",
        "import overrides",
        "class Base:",
        "    def lamp(self) -> int: ...",
        "try:",
        "    class Other(Base):",
        "        @overrides.override",
        "        def lantern(self) -> str: ...",
        "except TypeError as error:",
        "    print(error)",
    )
    assert said == [
        "False",
        "LanceDBConnection.open_table",
        "Other.lantern: No super class method found",
    ]


def test_what_needs_the_client_gets_the_real_one(tmp_path: Path) -> None:
    said = run(
        tmp_path,
        "db.create_table('notes', [{'text': 'lamp'}])",
        "from lancedb.db import ListTablesResponse as early",
        "print(db.list_tables().tables)",
        "from lance_namespace import ListTablesResponse as late",
        "print(isinstance(late(tables=[]), early), type(early(tables=[])) is late)",
        f"print(len({LOADED}) > 10)",
    )
    assert said == ["['notes']", "True True", "True"]


def test_an_error_of_a_catalogue_can_be_waited_for(tmp_path: Path) -> None:
    said = run(
        tmp_path,
        "from lancedb.db import TableNotFoundError",
        "try:",
        "    db.open_table('nowhere')",
        "except TableNotFoundError:",
        "    print('other')",
        "except ValueError as error:",
        "    print('not found' in str(error))",
    )
    assert said == ["True"]
