"""Whole documents, and what the parser makes of each, held word for word.

A golden file is `documents/KIND/NAME` with its outline in `outlines/KIND/NAME.txt`. To add one, put the
document there, or in `tests/samples/formats`, and run `pytest tests/golden --rewrite-golden`; then read the
outline, since it is now what the parser must give.
`documents/requests.yaml` has what came with a document besides its bytes.
"""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from indexes.embed.tokens import TokenCounter
from indexes.embed.weights import load_model_spec
from ingest.parse.document import parse_document
from schemas.fragment import ParseRequest
from tests.golden.outline import brief, outline

HERE = Path(__file__).parent
DOCUMENTS, OUTLINES = HERE / "documents", HERE / "outlines"
SAMPLES = HERE.parent / "samples" / "formats"
"""Documents of the other formats, which the contract of formats reads too."""

FILES = {
    **{str(path.relative_to(DOCUMENTS)): path for path in DOCUMENTS.glob("*/*") if path.name[0] != "."},
    **{f"{path.suffix[1:]}/{path.name}": path for path in SAMPLES.iterdir() if path.name[0] != "."},
}
NAMES = sorted(FILES)
CAME_WITH = yaml.safe_load((DOCUMENTS / "requests.yaml").read_text(encoding="utf-8"))
SITE = "https://docs.example.org/"


@pytest.fixture(scope="module")
def tokens() -> TokenCounter:
    """The tokenizer of the default model, as runs use it."""
    return TokenCounter(load_model_spec().path / "tokenizer.json")


def request_for(name: str) -> ParseRequest:
    """What a run would know of the document; pages and PDFs come from a site, other formats from a folder."""
    known = {"uri": SITE + name, "url": SITE + name, "source": "golden"}
    if not name.startswith(("html/", "pdf/")):
        known = {"uri": f"files://golden/{name}", "path": name, "source": "golden"}
    return ParseRequest(**{**known, **CAME_WITH.get(name, {})})


@pytest.mark.parametrize("name", NAMES)
def test_a_document_is_read_as_its_outline_says(
    name: str, tokens: TokenCounter, pytestconfig: pytest.Config
) -> None:
    data, golden = FILES[name].read_bytes(), OUTLINES / f"{name}.txt"

    read = outline(parse_document(data, request_for(name), count_tokens=tokens.count))

    if pytestconfig.getoption("--rewrite-golden"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(read, encoding="utf-8")
    assert golden.exists(), f"{name} has no outline; run: pytest tests/golden --rewrite-golden"
    assert read == golden.read_text(encoding="utf-8")


def test_every_outline_and_every_request_belongs_to_a_document() -> None:
    outlines = {str(path.relative_to(OUTLINES)).removesuffix(".txt") for path in OUTLINES.glob("*/*.txt")}

    assert outlines <= set(NAMES)
    assert set(CAME_WITH) <= set(NAMES)


def test_there_are_documents_of_many_layouts_and_producers() -> None:
    kinds = [name.split("/")[0] for name in NAMES]

    assert kinds.count("html") >= 12
    assert kinds.count("pdf") >= 8
    for other in ("docx", "pptx", "xlsx", "epub", "ipynb", "rst"):
        assert kinds.count(other) >= 2


def test_a_long_text_is_shown_by_its_first_and_last_words() -> None:
    text = " ".join(str(number) for number in range(1, 31))

    assert brief(text) == "1 2 3 4 5 6 7 8 …(17 words)… 26 27 28 29 30"
    assert brief("one\ttwo\n three") == "one two three"


def test_outlines_cannot_be_rewritten_where_ci_runs() -> None:
    command = [sys.executable, "-m", "pytest", "--rewrite-golden", "--collect-only", "-q", str(HERE)]

    done = subprocess.run(
        command,
        cwd=HERE.parents[1],
        env={"PATH": "", "CI": "true"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--rewrite-golden: CI compares golden files, it never writes them" in done.stderr
