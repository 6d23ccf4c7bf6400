"""An index in object storage, read with botocore alone: s3fs would take half a second more to import."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from indexes.copies.reading import PlaceFile
from schemas.errors import ConfigError, StoreUnavailable
from schemas.extras import install_line

_MISSING = frozenset({"NoSuchKey", "404", "InvalidRange"})
_CONNECTIONS = 16
_ATTEMPTS = 2


class BucketPlace:
    """An index under a prefix of a bucket. Server and credentials are the driver's variables (AWS_…)."""

    def __init__(self, url: str, *, patience: int) -> None:
        """Take *patience* seconds at most for a request, repetitions included.

        Raises: ConfigError: the driver is missing.
        """
        parts = urlsplit(url)
        self.url = url.rstrip("/")
        self._bucket, self._prefix = parts.netloc, parts.path.strip("/")
        self._client = _client(patience)

    @contextmanager
    def opened(self, path: str, start: int) -> Iterator[tuple[int, PlaceFile]]:
        key = f"{self._prefix}/{path}".lstrip("/")
        ranged = {"Range": f"bytes={start}-"} if start else {}
        telling = partial(self._telling, path)
        with telling():
            body = self._client.get_object(Bucket=self._bucket, Key=key, **ranged)["Body"]
        # Not entered: that gives the stream below, whose errors are those of urllib3.
        with closing(body):
            yield start, PlaceFile(body, telling)

    @contextmanager
    def _telling(self, path: str) -> Iterator[None]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in _MISSING:
                raise FileNotFoundError(f"{self.url}/{path}") from error
            raise self._unavailable(error) from error
        except (BotoCoreError, OSError) as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> StoreUnavailable:
        return StoreUnavailable(
            f"{error}; check what the environment says of the server and its credentials (AWS_ENDPOINT_URL, "
            "AWS_ACCESS_KEY_ID and their like), and the right to read there",
            subject=self.url,
        )


def _client(patience: int) -> Any:
    try:
        from botocore.config import Config
        from botocore.session import Session
    except ImportError as error:
        raise ConfigError(f"needs botocore; run: {install_line('s3')}", subject="s3://") from error
    patient = Config(
        connect_timeout=min(5, patience),
        read_timeout=patience / _ATTEMPTS,
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
        max_pool_connections=_CONNECTIONS,
    )
    return Session().create_client("s3", config=patient)
