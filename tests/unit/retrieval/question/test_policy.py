"""What the entry refuses."""

import pytest

from retrieval.question.query import build_query, check_policy, deny_list
from schemas.errors import QueryRefused


def test_a_question_that_says_a_denied_term_is_refused_with_the_reason() -> None:
    policy = deny_list(["payroll", "staff  list"])
    with pytest.raises(QueryRefused, match="staff list"):
        check_policy(policy, build_query("Show the Staff\nList of 2020"))


def test_terms_are_whole_words_and_an_empty_list_refuses_nothing() -> None:
    check_policy(deny_list(["pay"]), build_query("How is payment made?"))
    check_policy(deny_list([]), build_query("anything"))
    check_policy(deny_list([" "]), build_query("any thing"))
