"""What parsers in child processes are given."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from tests.fakes.pdfs import Text, new_pdf, prose


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer whose tokens are words, in the file format of the real ones."""
    words = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    words.save(str(path))
    return path


@pytest.fixture(scope="session")
def slow_pdf() -> bytes:
    """Takes many seconds to parse."""
    document = new_pdf([[Text(prose("lamp", 40), columns=95)]])
    for _ in range(1500):
        document.fullcopy_page(0)
    return bytes(document.tobytes())
