"""Advice for every kind of trouble at every door: what it names can be done there, as it stands."""

import ast
import inspect
import re
import shlex
from collections.abc import Iterator

import pytest
import typer.main

from flows.recrawl import index_source
from schemas.advice import ADVICE, SOURCE, Door, DoorKind, Trouble, advise, trouble_of
from sitegraph.cli.app import build_commands
from sitegraph.cli.options import door_of

DOORS = {
    DoorKind.COMMAND_LINE: door_of(["run", "my docs/handbook.yaml", "--index", "my index"]),
    DoorKind.WORKER: Door(
        kind=DoorKind.WORKER,
        index="my index",
        source="sources/handbook.yaml",
        deployment="index-source/my handbook",
    ),
    DoorKind.PYTHON: Door(kind=DoorKind.PYTHON, index="my index", source="my docs/handbook.yaml"),
}
COMMANDS = typer.main.get_command(build_commands()).commands  # type: ignore[attr-defined]
PARAMETERS = inspect.signature(index_source.fn).parameters


def told(advice: str) -> Iterator[tuple[str, str]]:
    """What the text names to be typed, with the program that takes it."""
    for clause in re.findall(
        r": ((?:sitegraph|prefect) [^;]+?|sitegraph\.index_source\(.+?\))(?=[;,]|$)", advice
    ):
        yield ("python" if clause.startswith("sitegraph.") else clause.partition(" ")[0]), clause


def check_sitegraph(typed: str) -> None:
    _, name, *rest = shlex.split(typed)
    command = COMMANDS[name]
    context = command.make_context(name, rest, resilient_parsing=True)
    assert context.args == [], f"{typed} has words that {name} does not take"
    assert [word for word in rest if word.startswith("--") and word not in _options(command)] == []
    assert context.params["index"] in ("my index", "ANOTHER"), typed


def _options(command: object) -> set[str]:
    return {option for one in command.params for option in one.opts}  # type: ignore[attr-defined]


def check_prefect(typed: str) -> None:
    words = shlex.split(typed)
    assert words[:4] == ["prefect", "deployment", "run", "index-source/my handbook"]
    flags, values = words[4::2], words[5::2]
    assert set(flags) <= {"-p"}
    assert {value.partition("=")[0] for value in values} <= PARAMETERS.keys()


def check_python(typed: str) -> None:
    call = ast.parse(typed, mode="eval").body
    assert isinstance(call, ast.Call)
    assert ast.unparse(call.func) == "sitegraph.index_source"
    assert [ast.literal_eval(one) for one in call.args] == ["my docs/handbook.yaml"]
    given = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
    assert given["index"] in ("my index", "ANOTHER")
    assert given.keys() <= PARAMETERS.keys()


CHECKS = {"sitegraph": check_sitegraph, "prefect": check_prefect, "python": check_python}


@pytest.mark.parametrize("kind", DoorKind)
@pytest.mark.parametrize("trouble", Trouble)
def test_what_advice_names_can_be_typed_where_it_is_read(trouble: Trouble, kind: DoorKind) -> None:
    advice = advise(f"docs: went wrong; {ADVICE[trouble]}", DOORS[kind])

    named = list(told(advice))

    assert len(named) == len(re.findall(r": sitegraph ", ADVICE[trouble])), advice
    for program, typed in named:
        CHECKS[program](typed)
    assert SOURCE not in advice
    assert ("sitegraph run " in advice) <= (kind is DoorKind.COMMAND_LINE), "a run is another one of its door"


def test_a_run_of_a_deployment_for_another_source_says_so_again() -> None:
    other = Door(
        kind=DoorKind.WORKER,
        deployment="index-source/manual",
        parameters={"source": "my docs/other.yaml", "index": "/data/index"},
    )
    assert advise(ADVICE[Trouble.LOSS], other) == (
        "to go ahead: prefect deployment run index-source/manual -p 'source=my docs/other.yaml' "
        "-p index=/data/index -p accept=true"
    )


@pytest.mark.parametrize(
    ("reason", "trouble"),
    [
        ("robots.txt disallows it", Trouble.ROBOTS),
        ("robots.txt was unavailable, so nothing may be fetched: HTTP 503", Trouble.SITE_FAILS),
        ("robots.txt was unavailable, so nothing may be fetched: no connection", Trouble.NO_CONNECTION),
        ("HTTP 401", Trouble.LOGIN),
        ("HTTP 403", Trouble.LOGIN),
        ("HTTP 404", Trouble.NOT_FOUND),
        ("HTTP 429", Trouble.SITE_FAILS),
        ("HTTP 500", Trouble.SITE_FAILS),
        ("no answer in time", Trouble.NO_CONNECTION),
        ("the host name does not resolve (Name or service not known)", Trouble.NO_NAME),
        ("the certificate does not verify (self-signed certificate)", Trouble.CERTIFICATE),
        ("unsupported type 'image/png'", Trouble.NO_DOCUMENT),
        ("127.0.0.1: port 9 is not 80, 443 or one named in allow_private", Trouble.PRIVATE),
        ("redirect loop", Trouble.UNTOLD),
    ],
)
def test_each_reason_of_a_fetch_is_a_trouble_of_its_own(reason: str, trouble: Trouble) -> None:
    assert trouble_of(reason) is trouble
