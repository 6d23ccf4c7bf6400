"""Settings: environment over file over defaults; what is wrong names its key."""

from dataclasses import fields
from importlib.metadata import version

import pytest

from schemas.errors import ConfigError
from schemas.settings import Settings, load_settings


@pytest.mark.parametrize(
    ("environ", "file", "workers"),
    [
        ({}, None, 2),
        ({}, "workers = 3", 3),
        ({"SITEGRAPH_WORKERS": "4"}, None, 4),
        ({"SITEGRAPH_WORKERS": "4"}, "workers = 3", 4),
        ({"SITEGRAPH_WORKERS": ""}, "workers = 3", 3),
        ({"WORKERS": "4", "sitegraph_workers": "5"}, "", 2),
    ],
)
def test_the_environment_wins_over_the_file_and_the_file_over_the_default(
    environ: dict[str, str], file: str | None, workers: int
) -> None:
    assert load_settings(environ, file).workers == workers


def test_without_anything_all_is_default() -> None:
    assert load_settings({}) == Settings()


def test_sites_are_told_the_version_that_is_installed_and_no_address_that_is_nobodys() -> None:
    assert Settings().user_agent == f"sitegraph/{version('sitegraph')}"


def test_one_key_of_the_file_leaves_the_others_to_the_environment() -> None:
    found = load_settings({"SITEGRAPH_NEO4J_URI": "bolt://graph:7687"}, 'index = "/srv/index"\nthreads = 8')
    assert (found.index, found.threads, found.neo4j_uri) == ("/srv/index", 8, "bolt://graph:7687")


@pytest.mark.parametrize(
    ("environ", "file", "said"),
    [
        ({}, "workers = ", "sitegraph.toml: not valid TOML"),
        (
            {},
            "wrokers = 3",
            "sitegraph.toml: unknown key 'wrokers'; known keys: batch_size, bucket_seconds, cache, checks",
        ),
        ({"SITEGRAPH_WORKERS": "many"}, None, "SITEGRAPH_WORKERS: 'many' is not a whole number above 0"),
        ({"SITEGRAPH_WORKERS": "0"}, None, "SITEGRAPH_WORKERS: '0' is not a whole number above 0"),
        ({"SITEGRAPH_THREADS": "-1"}, None, "SITEGRAPH_THREADS: '-1' is not a whole number above 0"),
        ({}, "keep_generations = 2.5", "SITEGRAPH_KEEP_GENERATIONS: 2.5 is not a whole number above 0"),
        ({}, "workers = true", "SITEGRAPH_WORKERS: True is not a whole number above 0"),
        ({"SITEGRAPH_SIMILAR_SCORE": "1"}, None, "SITEGRAPH_SIMILAR_SCORE: '1' is not between 0 and 1"),
        ({"SITEGRAPH_SIMILAR_SCORE": "0.0"}, None, "SITEGRAPH_SIMILAR_SCORE: '0.0' is not between 0 and 1"),
        (
            {},
            "similar_score = 0.70001",
            "SITEGRAPH_SIMILAR_SCORE: 0.70001 is not between 0 and 1, with at most 4",
        ),
        ({}, 'similar_score = "high"', "SITEGRAPH_SIMILAR_SCORE: 'high' is not between 0 and 1"),
        ({"SITEGRAPH_SIMILAR_COUNT": "101"}, None, "SITEGRAPH_SIMILAR_COUNT: '101' is more than 100"),
        ({"SITEGRAPH_BATCH_SIZE": "4097"}, None, "SITEGRAPH_BATCH_SIZE: '4097' is more than 4096"),
        (
            {"SITEGRAPH_NEO4J_EMBEDDINGS": "maybe"},
            None,
            "SITEGRAPH_NEO4J_EMBEDDINGS: 'maybe' is neither on (1, true, yes) nor off (0, false, no)",
        ),
        ({}, "index = 7", "SITEGRAPH_INDEX: 7 is not a text; put it in quotes"),
    ],
)
def test_a_wrong_setting_names_its_key(environ: dict[str, str], file: str | None, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(environ, file)
    assert str(caught.value).startswith(said)


def test_a_share_is_read_from_both_places() -> None:
    assert load_settings({"SITEGRAPH_SIMILAR_SCORE": ".65"}).similar_score == 0.65
    assert load_settings({}, "similar_score = 0.8\nsimilar_count = 100").similar_score == 0.8


@pytest.mark.parametrize(
    ("environ", "file", "on"),
    [
        ({}, None, False),
        ({"SITEGRAPH_NEO4J_EMBEDDINGS": "1"}, None, True),
        ({"SITEGRAPH_NEO4J_EMBEDDINGS": "Yes"}, None, True),
        ({"SITEGRAPH_NEO4J_EMBEDDINGS": "0"}, "neo4j_embeddings = true", False),
        ({}, "neo4j_embeddings = true", True),
    ],
)
def test_a_setting_that_is_on_or_off_is_read_as_people_write_it(
    environ: dict[str, str], file: str | None, on: bool
) -> None:
    assert load_settings(environ, file).neo4j_embeddings is on


def test_each_setting_is_of_one_group() -> None:
    grouped = [setting.name for group in Settings.__bases__ for setting in fields(group)]

    assert sorted(grouped) == sorted({setting.name for setting in fields(Settings)})


def test_what_may_hold_a_secret_is_known_as_one() -> None:
    secret = {setting.name for setting in fields(Settings) if not setting.repr}

    assert secret == {"ledger_url", "raw_url", "neo4j_password", "llm_key", "serve_token", "pull_token"}


def test_a_password_is_not_printed() -> None:
    assert "secret" not in repr(Settings(neo4j_password="secret"))


@pytest.mark.parametrize("text", ['""', '"  "', '"a\\nb"'])
def test_a_text_that_would_open_a_service_to_all_or_none_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="SITEGRAPH_SERVE_TOKEN"):
        load_settings({}, f"serve_token = {text}")


def test_the_line_break_at_the_end_of_a_mounted_secret_goes() -> None:
    assert load_settings({"SITEGRAPH_SERVE_TOKEN": "abc\n"}).serve_token == "abc"


def test_groups_that_a_variable_lost_are_refused_and_not_the_whole_index() -> None:
    with pytest.raises(ConfigError, match="SITEGRAPH_GROUPS: is empty"):
        load_settings({"SITEGRAPH_GROUPS": ""})
