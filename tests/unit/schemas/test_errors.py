"""The error tree: drawn as built, pickled whole, one line each."""

import pickle
import re

import pytest

import schemas.errors
from schemas.errors import HostBusy, SitegraphError, Stopped, TerminalError, TransientError

CLASSES = tuple(
    value
    for value in vars(schemas.errors).values()
    if isinstance(value, type) and issubclass(value, SitegraphError)
)
LEAVES = tuple(cls for cls in CLASSES if not cls.__subclasses__())


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes() -> None:
    assert drawn_tree(schemas.errors.__doc__ or "") == {
        cls.__name__: cls.__base__.__name__ for cls in CLASSES if cls is not SitegraphError and cls.__base__
    }


def drawn_tree(text: str) -> dict[str, str]:
    """Parent by name, read from the branches of the drawing."""
    above: dict[int, str] = {}
    parents: dict[str, str] = {}
    for line in re.findall(r"^    ([│├└─ ]*)(\w+)", text, re.MULTILINE):
        depth = len(line[0]) // 4
        above[depth] = line[1]
        if depth:
            parents[line[1]] = above[depth - 1]
    return parents


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.__name__)
def test_the_class_alone_says_whether_to_try_again(leaf: type[SitegraphError]) -> None:
    kinds = (TransientError, TerminalError, Stopped)
    assert sum(issubclass(leaf, kind) for kind in kinds) == 1


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.__name__)
def test_an_error_from_a_child_process_arrives_whole(leaf: type[SitegraphError]) -> None:
    back = pickle.loads(pickle.dumps(leaf("do this", subject="https://h.example/")))
    assert type(back) is leaf
    assert str(back) == "https://h.example/: do this"
    assert (back.message, back.subject) == ("do this", "https://h.example/")


def test_the_time_to_wait_survives_the_way_back_too() -> None:
    assert pickle.loads(pickle.dumps(HostBusy("later", retry_after=7.5))).retry_after == 7.5


def test_without_a_subject_the_message_stands_alone() -> None:
    assert str(Stopped("run again")) == "run again"
