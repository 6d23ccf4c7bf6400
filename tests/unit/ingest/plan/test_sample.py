"""Which documents a run asks for whole."""

from ingest.plan.schedule import LEAST, plan_sample


def held(pages: int, *, tagged: bool = False, site: str = "http://a.test") -> list[tuple[str, bool]]:
    return [(f"{site}/{number}", tagged) for number in range(pages)]


def test_a_sample_is_one_in_a_hundred_of_each_site_and_some_at_least_where_only_dates_are_known() -> None:
    assert len(plan_sample(held(3), run_id="1")) == 3
    assert len(plan_sample(held(400), run_id="1")) == LEAST
    assert len(plan_sample(held(1_001), run_id="1")) == 11
    assert len(plan_sample([*held(40), *held(40, site="http://b.test")], run_id="1")) == 2 * LEAST
    assert len(plan_sample(held(99, tagged=True), run_id="1")) == 0
    assert len(plan_sample(held(250, tagged=True), run_id="1")) == 2


def test_a_sample_follows_from_the_run_and_the_addresses_and_is_another_in_each_run() -> None:
    pages = held(500)
    assert plan_sample(pages, run_id="1") == plan_sample(reversed(pages), run_id="1")
    assert len({plan_sample(pages, run_id=str(number)) for number in range(20)}) == 20
