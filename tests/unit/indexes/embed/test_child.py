"""An encoder in another process: what comes back, and what happens when either side ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from indexes.embed.child import ChildEncoder, call_in_child
from indexes.embed.weights import ModelSpec
from schemas.errors import SchemaMismatch, StoreUnavailable
from tests.fakes.child_encoder import DIE, RAISE, WAIT, build_failing_encoder, write_file
from tests.fakes.encoder import HashEncoder

SPEC = ModelSpec(name="hash", path=Path("/nowhere"), sha256="a" * 64, dim=32, max_tokens=256)
REPO = Path(__file__).resolve().parents[4]


@pytest.fixture
def encoder() -> Iterator[ChildEncoder]:
    """An encoder whose child has not been started."""
    encoder = ChildEncoder(SPEC, build_failing_encoder)
    yield encoder
    encoder.close()


def _child_pid(encoder: ChildEncoder) -> int:
    encoder.encode_documents(["who are you"])
    assert encoder.route_check is not None
    return int(encoder.route_check.reason.removeprefix("process "))


def test_it_answers_as_the_encoder_itself_would(encoder: ChildEncoder) -> None:
    texts = ("one", "two words")

    assert np.array_equal(encoder.encode_documents(texts), HashEncoder().encode_documents(texts))
    assert np.array_equal(encoder.encode_query("why"), HashEncoder().encode_query("why"))


def test_one_child_serves_all_texts(encoder: ChildEncoder) -> None:
    first = _child_pid(encoder)

    assert first != os.getpid()
    assert _child_pid(encoder) == first


def test_nothing_to_encode_starts_no_child(encoder: ChildEncoder) -> None:
    assert encoder.encode_documents(()).shape == (0, 32)
    assert encoder.route_check is None


def test_an_error_in_the_child_is_raised_here_and_the_child_goes_on(encoder: ChildEncoder) -> None:
    before = _child_pid(encoder)

    with pytest.raises(SchemaMismatch, match="raise an error: refused"):
        encoder.encode_documents([RAISE])

    assert _child_pid(encoder) == before


def test_a_child_that_dies_is_transient_and_the_next_text_starts_another(encoder: ChildEncoder) -> None:
    before = _child_pid(encoder)

    with pytest.raises(StoreUnavailable, match="run again"):
        encoder.encode_documents([DIE])

    assert _child_pid(encoder) != before


def test_an_interrupted_question_does_not_leave_its_answer_to_the_next(encoder: ChildEncoder) -> None:
    encoder.encode_query("start the child")
    signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)

    with pytest.raises(KeyboardInterrupt):
        encoder.encode_documents([WAIT])

    assert np.array_equal(encoder.encode_documents(["next"]), HashEncoder().encode_documents(["next"]))


def _interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


def test_closing_ends_the_child(encoder: ChildEncoder) -> None:
    pid = _child_pid(encoder)

    encoder.close()

    assert not _alive(pid)


def test_a_child_outlives_no_killed_parent() -> None:
    script = """
from tests.unit.indexes.embed import test_child as t
encoder = t.ChildEncoder(t.SPEC, t.build_failing_encoder)
print(t._child_pid(encoder), flush=True)
input()
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", script], cwd=REPO, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())

    parent.send_signal(signal.SIGKILL)
    parent.communicate()

    deadline = time.monotonic() + 10
    while _alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(pid)


def test_a_call_in_a_child_runs_elsewhere(tmp_path: Path) -> None:
    call_in_child(write_file, str(tmp_path / "pid"))

    assert int((tmp_path / "pid").read_text()) != os.getpid()


def test_what_a_call_raises_in_a_child_is_raised_here(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no-folder"):
        call_in_child(write_file, str(tmp_path / "no-folder" / "file"))


def test_a_call_whose_child_dies_is_transient() -> None:
    with pytest.raises(StoreUnavailable, match="run again"):
        call_in_child(os._exit, 3)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
