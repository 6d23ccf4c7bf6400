"""deploy/ as it stands: its services, started as the files say, answer a question from the volume."""

from collections.abc import Iterator

import pytest

from tests.fakes.containers import Containers, ask, running_containers
from tests.fakes.exported_encoder import encoder_cache, place_exported_encoder
from tests.fakes.prefect_server import REPO

pytestmark = [pytest.mark.server, pytest.mark.postgres, pytest.mark.long, pytest.mark.timeout(600)]

PASSWORD = "p@ss/w:rd#%"
TOKEN = "t0ken of a caller"


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Containers]:
    home = tmp_path_factory.mktemp("compose")
    environ = {"SITEGRAPH_PASSWORD": PASSWORD, "SITEGRAPH_SERVE_TOKEN": TOKEN}
    with running_containers(REPO / "deploy" / "compose.yaml", environ=environ, home=home) as containers:
        # A first export takes 20 s of PyTorch, and is other tests' subject: the volume is as after one.
        place_exported_encoder(home / "export")
        containers.fill("cache", encoder_cache(), service="worker")
        containers.up()
        yield containers


def test_the_services_publish_an_index_on_the_volume_and_answer_from_it(services: Containers) -> None:
    services.wait("deploy", "service_completed_successfully")
    deployed = services.log("deploy")
    assert "created           maintain/index  cron 0 4 * * 0 UTC" in deployed, deployed
    assert "alarms tell nobody; set --notify, or SITEGRAPH_NOTIFY" in deployed

    run = services.run(
        "worker", "prefect", "deployment", "run", "index-source/manual", "--watch", timeout=400
    )
    assert run.returncode == 0, run.stdout + run.stderr + services.log("worker")
    services.wait("serve", "service_healthy")
    question = {"query": "how do I roll back to the generation before", "top_k": 3}
    status, bundle = ask(
        services, "serve", "http://serve:8000/retrieve", question, Authorization=f"Bearer {TOKEN}"
    )

    assert status == 200, bundle
    assert "rollback" in str(bundle)
