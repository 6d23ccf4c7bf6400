"""Templates of work pools and manifests in deploy/: read by their workers, and held to schemas.

The schemas are those of Kubernetes itself, as the package kubernetes-validate carries them.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import anyio
import jsonschema
import kubernetes_validate
import pytest
import yaml

from schemas.settings import load_settings
from tests.fakes.compose_file import read_compose

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
KUBERNETES = "1.33"
SECRET = {"PREFECT_API_URL", "SITEGRAPH_LEDGER_URL", "PGPASSWORD"}


def template(kind: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((DEPLOY / kind / "base-job-template.json").read_text(encoding="utf-8"))
    return read


class NoClient:
    """A Prefect server that has one block, `secret/sitegraph-password`, and no variables."""

    async def read_block_document_by_name(self, name: str, block_type_slug: str) -> Any:
        assert (block_type_slug, name) == ("secret", "sitegraph-password")

        return SimpleNamespace(data={"value": "p@ss"}, block_type_slug="secret")


def configured(kind: str, **variables: Any) -> Any:
    """The job of a run as the worker makes it."""
    from prefect.client.schemas.objects import FlowRun, State, StateType
    from prefect_docker.worker import DockerWorkerJobConfiguration
    from prefect_kubernetes.worker import KubernetesWorkerJobConfiguration

    made_by: dict[str, Any] = {
        "docker": DockerWorkerJobConfiguration,
        "kubernetes": KubernetesWorkerJobConfiguration,
    }

    async def make() -> Any:
        return await made_by[kind].from_template_and_values(template(kind), variables, client=NoClient())

    made = anyio.run(make)
    run = FlowRun(id=uuid4(), flow_id=uuid4(), name="run", state=State(type=StateType.PENDING))
    made.prepare_for_flow_run(run)
    return made


@pytest.mark.parametrize("kind", ["docker", "kubernetes"])
def test_every_default_of_a_template_is_one_that_its_own_schema_allows(kind: str) -> None:
    schema = template(kind)["variables"]

    jsonschema.Draft202012Validator.check_schema(schema)
    defaults = {name: one["default"] for name, one in schema["properties"].items() if "default" in one}
    jsonschema.validate(defaults, schema)


def test_the_job_of_a_kubernetes_run_is_one_that_kubernetes_takes() -> None:
    made = configured(
        "kubernetes",
        memory_limit="4Gi",
        env={"SITEGRAPH_WORKERS": "2"},
        image="registry.example.org/sitegraph:1",
    )

    pod = made.job_manifest["spec"]["template"]["spec"]
    _check_job(made.job_manifest)
    (container,) = pod["containers"]
    assert container["resources"]["limits"]["memory"] == "4Gi"
    assert container["image"] == "registry.example.org/sitegraph:1"
    assert {"name": "SITEGRAPH_WORKERS", "value": "2"} in container["env"]
    assert container["envFrom"] == [{"secretRef": {"name": "sitegraph"}}]
    assert {one["name"] for one in container["volumeMounts"]} == {one["name"] for one in pod["volumes"]}
    assert "{{" not in json.dumps(made.job_manifest)


def test_a_job_that_kubernetes_would_refuse_is_refused_here_too() -> None:
    made = configured("kubernetes")
    made.job_manifest["spec"]["template"]["spec"]["containers"][0]["memory"] = "4Gi"

    with pytest.raises(kubernetes_validate.ValidationError):
        _check_job(made.job_manifest)


def _check_job(manifest: dict[str, Any]) -> None:
    # Prefect's worker takes no job without these two here, where Kubernetes passes over them with a warning.
    spec = manifest["spec"]["template"]["spec"]
    assert (spec.pop("completions"), spec.pop("parallelism")) == (1, 1)
    kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


def manifests() -> Iterator[dict[str, Any]]:
    yield from yaml.safe_load_all((DEPLOY / "kubernetes" / "sitegraph.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "manifest", list(manifests()), ids=lambda one: f"{one['kind']}-{one['metadata']['name']}"
)
def test_every_manifest_is_one_that_kubernetes_takes(manifest: dict[str, Any]) -> None:
    kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


def test_no_manifest_holds_a_secret_and_all_read_the_same_one() -> None:
    assert [one for one in manifests() if one["kind"] == "Secret"] == []
    text = (DEPLOY / "kubernetes" / "sitegraph.yaml").read_text(encoding="utf-8")
    assert text.count("secretRef: {name: sitegraph}") == 2
    assert template("kubernetes")["variables"]["properties"]["secret"]["default"] == "sitegraph"
    assert not [name for name in SECRET if f"name: {name}" in text]


def test_the_claims_of_a_run_are_those_that_the_manifests_make() -> None:
    made = configured("kubernetes")
    volumes = made.job_manifest["spec"]["template"]["spec"]["volumes"]
    named = {one["persistentVolumeClaim"]["claimName"] for one in volumes if "persistentVolumeClaim" in one}

    assert named == {one["metadata"]["name"] for one in manifests() if one["kind"] == "PersistentVolumeClaim"}


def test_a_docker_run_has_the_volumes_settings_and_password_of_the_compose_file() -> None:
    made = configured("docker", mem_limit="4g", env={"SITEGRAPH_WORKERS": "2"})
    compose = read_compose(
        DEPLOY / "compose.yaml", environ={"SITEGRAPH_PASSWORD": "p@ss", "SITEGRAPH_SERVE_TOKEN": "token"}
    )
    worker = compose.services["worker"]

    assert made.mem_limit == "4g"
    assert made.env["SITEGRAPH_WORKERS"] == "2"
    for name in ("SITEGRAPH_LEDGER_URL", "PGPASSWORD", "PREFECT_API_URL"):
        assert made.env[name] == worker.environment[name]
    mounted = {one.target: one.source for one in worker.mounts if one.named}
    assert dict(volume.removeprefix("sitegraph_").split(":") for volume in made.volumes) == {
        source: target for target, source in mounted.items()
    }
    assert load_settings(made.env).workers == 2
