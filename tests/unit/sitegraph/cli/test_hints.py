import pytest

from schemas.advice import ADVICE, Trouble, advise
from sitegraph.cli.options import door_of

RUN = ["run", "docs/handbook.yaml", "--index", "my index"]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (
            "lift it with: sitegraph rollback --lift",
            "lift it with: sitegraph rollback --lift --index 'my index'",
        ),
        (
            "To review: sitegraph plan SOURCE.yaml; to go ahead: sitegraph run SOURCE.yaml --accept.",
            "To review: sitegraph plan docs/handbook.yaml --index 'my index'; "
            "to go ahead: sitegraph run docs/handbook.yaml --accept --index 'my index'.",
        ),
        (
            "held (lift: sitegraph rollback --lift)",
            "held (lift: sitegraph rollback --lift --index 'my index')",
        ),
        ("run: sitegraph verify or ask", "run: sitegraph verify --index 'my index' or ask"),
        ("see sitegraph wiki list", "see sitegraph wiki list"),
        (
            "gone; run: sitegraph blame chunk:abc",
            "gone; run: sitegraph blame chunk:abc --index 'my index'",
        ),
        (
            "make one with: sitegraph run SOURCE.yaml --index x",
            "make one with: sitegraph run docs/handbook.yaml --index x",
        ),
    ],
)
def test_advice_can_be_pasted_as_it_stands(message: str, said: str) -> None:
    assert advise(message, door_of(RUN)) == said


@pytest.mark.parametrize("arguments", [["status"], ["status", "--index"], []])
def test_a_call_without_an_index_leaves_advice_as_it_is(arguments: list[str]) -> None:
    assert advise("with: sitegraph run SOURCE.yaml", door_of(arguments)) == "with: sitegraph run SOURCE.yaml"


def test_an_index_given_with_an_equals_sign_is_repeated_too() -> None:
    assert (
        advise("with: sitegraph verify", door_of(["status", "--index=i"]))
        == "with: sitegraph verify --index i"
    )


@pytest.mark.parametrize(
    ("arguments", "typed"),
    [
        (["run", "https://docs.example.org/", "--index", "i"], "https://docs.example.org/"),
        (["run", "--index", "i", "./my docs", "--accept"], "'./my docs'"),
        (["run", "--index=i", "--quiet", "manual.pdf"], "manual.pdf"),
        (["run", "--model", "m", "a.yaml", "--index", "i"], "a.yaml"),
        (["rollback", "--index", "i"], "SOURCE.yaml"),
    ],
)
def test_advice_to_run_again_names_what_was_run(arguments: list[str], typed: str) -> None:
    said = advise("go ahead with: sitegraph run SOURCE.yaml --accept", door_of(arguments))
    assert said == f"go ahead with: sitegraph run {typed} --accept --index i"


@pytest.mark.parametrize("typed", ["https://docs.example.org/", "docs", "manual.pdf"])
@pytest.mark.parametrize("trouble", [Trouble.REMOVAL, Trouble.MODEL])
def test_what_is_no_source_file_is_not_advised_to_a_command_that_takes_only_one(
    trouble: Trouble, typed: str
) -> None:
    said = advise(f"went wrong; {ADVICE[trouble]}", door_of(["run", typed, "--index", "i"]))
    assert said.startswith(f"went wrong; to go ahead: sitegraph run {typed} --accept --index i")
    assert "plan" not in said
    cost = advise("see the cost with: sitegraph plan SOURCE.yaml", door_of(["run", typed]))
    assert cost == "see the cost with: sitegraph plan SOURCE.yaml"
