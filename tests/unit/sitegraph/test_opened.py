"""`sitegraph.open`: what a program sees of an index, and what the page on it shows."""

import asyncio
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sitegraph
from retrieval.ask_modes import AskMode
from schemas.errors import ConfigError, FilterError
from tests.fakes.next_generation import publish_next
from tests.fakes.small_index import page
from tests.unit.retrieval.test_live import copy_index
from tests.unit.sitegraph.cli.conftest import folder

__all__ = ["folder"]

ROOT = Path(__file__).parents[3]
PROGRAMS = re.findall(
    r"^```python\n(.*?)^```",
    (ROOT / "docs" / "how-to" / "from-python.md").read_text("utf-8"),
    re.MULTILINE | re.DOTALL,
)
QUESTION = "How long are records kept?"


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LLM_URL", "LEDGER_URL", "INDEX"):
        monkeypatch.delenv(f"SITEGRAPH_{name}", raising=False)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.split("\n")[0])
def test_every_program_of_the_page_runs(
    program: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "handbook-index").symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "from-python.md", "exec"), {})
    assert "gov-0017.md" in capsys.readouterr().out


def test_evidence_and_answers_are_those_of_the_command_line(folder: Path) -> None:
    with sitegraph.open(folder) as index:
        bundle = index.retrieve(QUESTION, top_k=3, filters={"doc_type": ("governance", "memo")})
        asked = index.ask(QUESTION, mode="dual", on_step=(steps := []).append)
        chunk = index.chunk(bundle.evidence[0].chunk_id)
        passage = index.passage(chunk.id)
    assert bundle.evidence[0].file_path == "gov-0017.md"
    assert asked.mode is AskMode.DUAL
    assert asked.answer.sentences[0].text == "Records are kept for seven years."
    assert "relations" in " ".join(steps) or "passages" in " ".join(steps)
    assert chunk.text in passage.replace("»", "").replace("«", "")


def test_an_opened_index_follows_the_generations(folder: Path, tmp_path: Path) -> None:
    copy = copy_index(folder, tmp_path / "index")
    with sitegraph.open(copy) as index:
        before = index.generation
        publish_next(copy, (page("notes", {"Night watch": "The lamp is lit at nine."}),))
        assert index.generation == before + 1
        assert "nine" in index.retrieve("when is the lamp lit").evidence[0].text


def test_threads_and_event_loops_share_one(folder: Path) -> None:
    async def ask() -> list[int]:
        with sitegraph.open(folder) as index:
            found = await asyncio.gather(*(asyncio.to_thread(index.retrieve, QUESTION) for _ in range(4)))
        return [one.generation for one in found]

    assert len(set(asyncio.run(ask()))) == 1
    with sitegraph.open(folder) as index, ThreadPoolExecutor(4) as threads:
        assert len({one.evidence for one in threads.map(index.retrieve, [QUESTION] * 8)}) == 1


def test_what_is_wrong_is_said_when_it_is_asked(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="index"):
        sitegraph.open(tmp_path / "nothing")
    with sitegraph.open(folder) as index:
        with pytest.raises(FilterError, match="known keys"):
            index.retrieve(QUESTION, filters={"colour": "red"})
        with pytest.raises(ConfigError, match="top-k"):
            index.retrieve(QUESTION, top_k=0)
        with pytest.raises(ConfigError, match="no such chunk"):
            index.chunk("chunk:none")
        with pytest.raises(ValueError, match="slow"):
            index.ask(QUESTION, mode="slow")


def test_reading_imports_neither_parsers_nor_prefect_nor_torch(folder: Path) -> None:
    code = (
        "import sys, sitegraph\n"
        f"with sitegraph.open({str(folder)!r}) as index: index.retrieve('records')\n"
        "print(sorted({'prefect', 'pymupdf', 'torch', 'trafilatura', 'langchain_core'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
