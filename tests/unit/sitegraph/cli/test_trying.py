"""`run` without a source file: a source that the index has is not cut down, and a try may be repeated."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.layout import IndexLayout
from indexes.own_ledger import open_own_ledger
from runtime.settings import read_settings
from runtime.source_file import load_source
from schemas.errors import ConfigError
from schemas.source import Rate, Source
from sitegraph.actions.propose import TRY_PAGES, as_file_of, guess, guessed_source
from sitegraph.actions.target import find_target
from tests.fakes.disk_index import write_index
from tests.fakes.exported_encoder import place_exported_encoder
from tests.fakes.governance import governance_documents

URL, HOST, OTHER = "http://127.0.0.1:8123/m/", "127.0.0.1:8123", "127.0.0.1:8124"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    encoder = place_exported_encoder(tmp_path_factory.mktemp("encoder") / "default")
    return str(write_index(tmp_path_factory.mktemp("index"), *governance_documents(), encoder=encoder))


def tried(index: str, *allow_private: str) -> Source:
    return guessed_source(
        guess(find_target(URL), index=index, allow_private=allow_private, max_pages=TRY_PAGES)
    )


def try_again(known: Source, index: str, allow_private: Sequence[str]) -> Source:
    with closing(open_own_ledger(IndexLayout(Path(index)), None)) as ledger:
        ledger.sources.save(known)
    with as_file_of(URL, read_settings(index), allow_private=allow_private, is_try=True, quiet=True) as path:
        return load_source(path)


def test_a_try_again_without_its_addresses_names_them_and_the_flag(index: str) -> None:
    with pytest.raises(ConfigError) as refused:
        try_again(tried(index, HOST, OTHER), index, [OTHER])

    assert str(refused.value) == (
        f"source 127.0.0.1-m: {HOST} may be asked only if it is allowed, as in the try before; "
        f"add --allow-private {HOST}"
    )


@pytest.mark.parametrize(("before", "now"), [([HOST], [HOST]), ([], [HOST]), ([HOST, OTHER], [OTHER, HOST])])
def test_a_try_again_with_as_much_or_more_allowed_goes_on(
    index: str, before: list[str], now: list[str]
) -> None:
    assert try_again(tried(index, *before), index, now).allow_private == tuple(now)


def test_a_source_by_a_file_is_not_cut_down_whatever_is_allowed(index: str) -> None:
    known = replace(tried(index, HOST), rate=Rate(per_host_delay=3.0))

    for allowed in ([HOST], []):
        with pytest.raises(ConfigError, match="from a source file"):
            try_again(known, index, allowed)
