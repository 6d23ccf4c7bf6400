"""Object storage for tests: a server on loopback that speaks S3, and a file system of fsspec in memory."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest

from indexes.places import object_place
from indexes.stores.raw import FileRawStore

SECRET = "very-secret-word"


@contextmanager
def running_s3() -> Iterator[str]:
    """Return the address of a server; without moto skip, or fail under REQUIRE_ALL."""
    moto = pytest.importorskip("moto.server", reason="moto, which serves S3, is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def s3_environment(address: str) -> dict[str, str]:
    """What makes the driver ask this server, as somebody it knows, and read no file of ours."""
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "tester",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def make_bucket() -> str:
    """Make an empty bucket where the environment leads, and give its URL."""
    import fsspec

    name = f"sitegraph-{uuid4().hex[:12]}"
    fsspec.filesystem("s3", skip_instance_cache=True).mkdir(name)
    return f"s3://{name}"


def open_memory_objects() -> FileRawStore:
    """An empty store over objects that die with the process."""
    return FileRawStore(
        object_place(f"memory://tests/{uuid4().hex}", is_checked=True, patience=60, subject="")
    )
