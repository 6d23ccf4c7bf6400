"""Every kind of file of an index, harmed in every way: the same answers, or one line that leads out."""

from pathlib import Path

import pytest

from tests.fakes.damage import DAMAGES, cases
from tests.fakes.damaged_index import House, publish_house
from tests.fakes.prefect_server import prefect_server
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph

__all__ = ["prefect_server", "sitegraph"]

pytestmark = [pytest.mark.long, pytest.mark.server, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def published(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish_house(sitegraph, tmp_path_factory.mktemp("house"))


@pytest.mark.parametrize("damage", DAMAGES)
def test_each_kind_of_file_harmed_this_way(
    sitegraph: Sitegraph, published: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, damage: str
) -> None:
    """The next run is an ordinary one; what it leaves is repaired as `verify` says."""
    house, wrong = House(sitegraph, published, capsys), []
    before = house.ask(house.index)
    for kind, path in cases(house.index, of_each=2):
        index = house.copy(tmp_path / "index")
        if kind.endswith("-shm") or not DAMAGES[damage](index / path):
            continue
        try:
            house.check_outcome(path, index, before)
            said = house.run(index) or house.verify(index).said
            if said:
                house.repair(index, said)
            after = house.ask(index)
            assert {*after.answers[0], *after.answers[1]} == {*before.answers[0], *before.answers[1]}
        except AssertionError as error:
            wrong.append(f"{path}: {error}")
    assert wrong == []
