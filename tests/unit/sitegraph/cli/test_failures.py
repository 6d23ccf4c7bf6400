"""What an error of a library says to a person, and its exit code."""

import errno
import sqlite3

import psycopg
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import RuntimeException

from schemas.errors import DamageFound, StoreUnavailable, plain_reason, why_no_room
from sitegraph.cli.failures import Failure, explain_error

NOT_FOUND = (
    "lance error: Not found: srv/index/lance/chunks.lance/data/0001.lance, "
    "/builder/.cargo/registry/src/index-1949/lance-io-13.0.0/src/local.rs:273:40"
)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (NOT_FOUND, "Not found: srv/index/lance/chunks.lance/data/0001.lance"),
        (
            "lance error: LanceError(IO): Generic LocalFileSystem error: failed to fill whole buffer, "
            "/rustc/2d8144b7880597b6e6/library/core/src/ops/function.rs:250:5",
            "failed to fill whole buffer",
        ),
        ("LanceError(IO): rust/lance/src/dataset.rs:12:3", "it gave no reason"),
        ("Table 'nodes' was not found", "Table 'nodes' was not found"),
    ],
)
def test_a_driver_is_quoted_without_its_source_code(said: str, told: str) -> None:
    assert plain_reason(RuntimeError(said)) == told


def test_a_full_disk_is_known_by_its_code_or_its_words_however_deep() -> None:
    wrapped = StoreUnavailable("cannot be written")
    wrapped.__cause__ = RuntimeError("LanceError(IO): No space left on device (os error 28), x.rs:1:2")

    assert why_no_room(wrapped) == "the disk is full"
    assert why_no_room(OSError(errno.EDQUOT, "over")) == "the disk quota is used up"
    assert why_no_room(sqlite3.OperationalError("database or disk is full")) == "the disk is full"
    assert why_no_room(ValueError("nothing of the kind")) is None
    assert explain_error(wrapped, command="run") == Failure(
        "the disk is full. Nothing changed for readers; free some space and try again", 1
    )


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (
            RuntimeError("Failed to reach API at http://127.0.0.1:9/api/"),
            3,
            "cannot be reached; set PREFECT_",
        ),
        (RuntimeError(NOT_FOUND), 3, "a table of the index cannot be read or written: Not found"),
        (RuntimeError("can't start new thread"), 1, "no more threads can be started"),
        (MemoryError(), 1, "not enough memory"),
        (PermissionError(errno.EACCES, "Permission denied", "/srv/x"), 1, "/srv/x: Permission denied"),
        (
            ModuleNotFoundError("no", name="lxml.html"),
            2,
            "run: needs lxml.html, which is not installed; run: pip",
        ),
    ],
    ids=["prefect", "lance", "threads", "memory", "permission", "module"],
)
def test_what_the_machine_and_others_do_is_told_with_what_to_do(
    error: Exception, code: int, words: str
) -> None:
    failure = explain_error(error, command="run")

    assert failure is not None
    assert failure.code == code
    assert words in failure.message
    assert ".rs:" not in failure.message


def test_too_little_memory_is_told_whoever_came_upon_it_first() -> None:
    """The loader of libraries, the kernel, C++, and what wraps them."""
    cause = ImportError("_state.so: failed to map segment from shared object")
    wrapped, other = RuntimeError("cannot load"), ValueError("while handling")
    wrapped.__cause__, other.__context__ = cause, wrapped
    encoder = RuntimeException("[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : std::bad_alloc")
    damaged = DamageFound("the encoder cannot be loaded; repair it", subject="encoder.onnx")
    damaged.__cause__ = encoder
    said = [
        *(
            cause,
            wrapped,
            other,
            encoder,
            damaged,
            SystemError("error return without exception set"),
            SystemError("<built-in function exec> returned NULL without setting an exception"),
            MemoryError(),
            RuntimeError("std::bad_alloc"),
            OSError(errno.ENOMEM, "x"),
        ),
        OSError(errno.ENOMEM, "Cannot allocate memory", "/srv/x"),
    ]
    told = {str(error): explain_error(error, command="query") for error in said}
    assert {failure and failure.message for failure in told.values()} == {
        "there is not enough memory; free some, or raise its limit (ulimit -v)"
    }, told


def dealt_with() -> KeyError:
    error = KeyError("x")
    error.__context__, error.__suppress_context__ = MemoryError(), True
    return error


@pytest.mark.parametrize(
    "error",
    [
        *(KeyError("x"), ModuleNotFoundError("no", name="flows.nowhere"), dealt_with()),
        SystemError("bad argument to internal function"),
        ValueError("page 'Out of memory killer' is wrong"),
        psycopg.errors.OutOfMemory("out of memory"),
    ],
)
def test_a_fault_of_the_program_is_not_put_down_to_somebody_else(error: Exception) -> None:
    assert explain_error(error, command="run") is None
