"""An index of each question set, built once by `sitegraph run` and kept."""

import os
import subprocess
import sys
from pathlib import Path

from bench.retrieval.question_sets import QuestionSet

CACHE = Path(__file__).parents[2] / ".cache" / "bench-retrieval" / os.environ.get("SITEGRAPH_MODEL", "")
"""Indexes of each model apart."""


def build_index(questions: QuestionSet, *, cache: Path = CACHE) -> Path:
    """Return the index folder of a set; the first call builds it, which takes minutes."""
    home = cache / questions.name
    source, index = home / "source.yaml", home / "index"
    if not (home / "built").exists():
        questions.write(home / "documents")
        source.write_text(
            f"name: {questions.name}\nkind: files\nroots: [documents]\nocr: true\n", encoding="utf-8"
        )
        command = [sys.executable, "-m", "sitegraph.cli.app", "run", str(source), "--index", str(index)]
        subprocess.run(command, check=True, stdout=sys.stderr, env=dict(os.environ))
        (home / "built").touch()
    return index
