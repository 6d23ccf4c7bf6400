"""What became of questions, and that nothing a client chooses becomes a label."""

import pytest

from runtime.telemetry.prometheus import QuestionOutcome, Questions, question_outcome


@pytest.mark.parametrize(
    ("status", "found", "outcome"),
    [
        (200, True, "found"),
        (200, False, "not_found"),
        (403, None, "refused"),
        (401, None, "unauthorized"),
        (422, None, "invalid"),
        (413, None, "invalid"),
        (503, None, "busy"),
        (504, None, "timeout"),
        (504, True, "timeout"),
        (500, None, "failed"),
    ],
)
def test_the_status_tells_the_outcome(status: int, found: bool | None, outcome: str) -> None:
    assert question_outcome(status, found) is QuestionOutcome(outcome)


def test_methods_that_clients_make_up_are_one_label() -> None:
    questions = Questions("/srv/index")
    for number in range(50):
        questions.answered(f"MADE{number}", "-", 405)
    questions.answered("GET", "/healthz", 200)

    methods = {
        s.labels["method"] for f in questions.registry.collect() for s in f.samples if "method" in s.labels
    }
    assert methods == {"GET", "other"}
