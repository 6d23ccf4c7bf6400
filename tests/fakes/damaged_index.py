"""An index of three generations, harmed, asked, verified, and repaired by what the messages say."""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from indexes.layout import IndexLayout
from indexes.publish.current import read_current
from indexes.publish.generation import load_generation
from schemas.errors import SitegraphError
from sitegraph.cli.app import run_app
from tests.fakes.copies import copy_index
from tests.fakes.sitegraph_runs import Sitegraph

QUESTIONS = ("What does a night at the Hotels cost?", "Who needs a certificate for Sick Leave on day three?")
"""They name something, so stop words do not count: those weigh, in a tiny index, by rows that went, too."""
PAGES = {
    "leave.md": "# Leave\n\nThirty days a year. See [travel](travel.md).\n\n"
    "## Sick leave\n\nA certificate is due on day three.\n",
    "travel.md": "# Travel\n\nTrains are booked by the desk. Read [leave](leave.md).\n\n"
    "## Hotels\n\nA night costs up to 120 crowns.\n",
    "safety.md": "# Safety\n\nReport smoke to the porter. Then see [travel](travel.md).\n\n"
    "## Doors\n\nThey close at nine.\n",
}
_ADVICE = re.compile(r"sitegraph (repair|run SOURCE\.yaml) --index (\S+?)( --repair)?$", re.MULTILINE)
_DELETE = re.compile(r"(\S+\.sqlite)\S*: .*delete the file")
_READ = re.compile(r"encoder|generations/3\.json|CURRENT|index\.json")

Answers = tuple[tuple[str, ...], ...]


def write_house(folder: Path) -> Path:
    """Write a folder of pages and give its source file."""
    (folder / "house").mkdir(parents=True)
    for name, text in PAGES.items():
        (folder / "house" / name).write_text(text)
    source = folder / "house.yaml"
    source.write_text("name: house\nkind: files\nroots: [house]\n")
    return source


def publish_house(sitegraph: Sitegraph, folder: Path) -> Path:
    """Publish the pages three times, each time with a change; give the source file beside `index`."""
    source = write_house(folder)
    for number, price in enumerate(("120", "130", "140"), start=1):
        (folder / "house" / "travel.md").write_text(PAGES["travel.md"].replace("120", price))
        assert sitegraph.run(source, folder / "index")["generation"] == number
    return source


@dataclass(frozen=True)
class Asked:
    """What commands said: exit code, the passages found where it is 0, and everything printed on stderr."""

    code: int
    answers: Answers = ()
    said: str = ""

    @property
    def failure(self) -> str:
        return self.said if self.code else ""


@dataclass(frozen=True)
class House:
    """A published index and the commands that are run on copies of it."""

    sitegraph: Sitegraph
    source: Path
    capsys: pytest.CaptureFixture[str]

    @property
    def index(self) -> Path:
        return self.source.parent / "index"

    def copy(self, target: Path) -> Path:
        shutil.rmtree(target, ignore_errors=True)
        return copy_index(self.index, target)

    def ask(self, index: Path) -> Asked:
        """Ask the questions; the first that fails ends it."""
        found = []
        for question in QUESTIONS:
            asked = self._call("query", question, "--index", str(index), "--format", "json")
            if asked.code:
                return asked
            found.append(asked.answers[0])
        return Asked(0, tuple(found))

    def verify(self, index: Path) -> Asked:
        return self._call("verify", "--index", str(index))

    def run(self, index: Path, **options: bool) -> str:
        """Run the source; give what it failed with, or nothing."""
        try:
            self.sitegraph.run(self.source, index, **options)
        except SitegraphError as error:
            return str(error)
        return ""

    def follow(self, index: Path, said: str) -> str:
        """Do what a message says, to the letter, where that fails what it says next; give what that said."""
        for name in dict.fromkeys(_DELETE.findall(said)):
            for path in index.glob(f"{Path(name).name}*"):
                path.unlink()
            return self.run(index)
        failed = f"leads nowhere: {said}"
        for command, where, looks_everywhere in _ADVICE.findall(said):
            assert Path(where) == index
            if command == "repair":
                failed = self._call("repair", "--index", where, "--quiet").failure
            else:
                failed = self.run(index, repair=bool(looks_everywhere))
            if not failed:
                break
        assert not failed.startswith("leads nowhere"), failed
        return failed

    def is_rested_on(self, index: Path, path: Path) -> bool:
        """Whether answers of the current generation rest on a file."""
        described = load_generation(IndexLayout(self.index), read_current(self.index))
        return path.as_posix() in described.files or bool(_READ.match(path.as_posix()))

    def check_outcome(self, path: Path, index: Path, before: Asked) -> tuple[Asked, Asked]:
        """Hold that a harmed index answers as before or says why not, and that `verify` knows; give both."""
        asked, verified = self.ask(index), self.verify(index)
        if asked.code == 0:
            assert asked.answers == before.answers, "other answers, and nobody says so"
        else:
            assert asked.code in (1, 2, 3)
            assert asked.said.count("\n") == 1
            assert _ADVICE.search(asked.said), asked.said
        for one in (asked, verified):
            assert "Traceback" not in one.said
            assert "internal failure" not in one.said
        if self.is_rested_on(index, path):
            assert verified.code == 1, "verify calls it intact"
        return asked, verified

    def repair(self, index: Path, said: str) -> None:
        """Follow messages until there are none, three times at most; then everything is whole again."""
        for _ in range(3):
            said = self.follow(index, said) or self.verify(index).said
            if not said:
                return
        raise AssertionError(f"still: {said}")

    def _call(self, *arguments: str) -> Asked:
        self.capsys.readouterr()
        code = run_app(list(arguments))
        out, err = self.capsys.readouterr()
        if code or arguments[0] != "query":
            return Asked(code, (), err)
        evidence = json.loads(out)["evidence"]
        return Asked(0, (tuple(f"{one['chunk_id']} {one['text']}" for one in evidence),), err)
