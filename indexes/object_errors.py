"""What drivers of object storage raise, turned into our errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from schemas.errors import NoRoom, StoreUnavailable
from schemas.no_room import WHAT_TO_DO, why_no_room

_FULL = 507


@contextmanager
def telling(
    subject: str, *, check: str, failures: tuple[type[Exception], ...] | None = None
) -> Iterator[None]:
    """Turn errors into StoreUnavailable and NoRoom; that an object is not there passes.

    Args: check: what people may look at first. failures: what the driver raises besides OSError.
    """
    raised = driver_failures() if failures is None else failures
    expected: tuple[type[Exception], ...] = (OSError, *raised)
    try:
        yield
    except FileNotFoundError as error:
        if lacks_bucket(error):
            raise _unavailable(subject, error, check) from error
        raise
    except expected as error:
        if (full := why_no_room(error)) or status_of(error) == _FULL:
            raise NoRoom(f"{full or 'the bucket is full'}. {WHAT_TO_DO}", subject=subject) from error
        raise _unavailable(subject, error, check) from error


def _unavailable(subject: str, error: Exception, check: str) -> StoreUnavailable:
    return StoreUnavailable(f"{error or type(error).__name__}; {what_to_check(check)}", subject=subject)


def what_to_check(first: str) -> str:
    """Say what people may look at where object storage fails, *first* before all."""
    return (
        f"check {first}, what the environment says of the server and its credentials (AWS_ENDPOINT_URL, "
        "AWS_ACCESS_KEY_ID and their like), and the right to list, read, write and delete there"
    )


@cache
def driver_failures() -> tuple[type[Exception], ...]:
    """What the driver of S3 raises besides OSError when the server fails it."""
    try:
        from aiohttp import ClientError
        from botocore.exceptions import BotoCoreError
    except ImportError:
        return ()
    return (BotoCoreError, ClientError)


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status that a server of S3 answered with; None where it is not told."""
    response = getattr(error, "response", None) or getattr(error.__cause__, "response", None) or {}
    status: int | None = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return status


def lacks_bucket(error: FileNotFoundError) -> bool:
    """Whether it is the bucket that is not there: that says nothing of what was kept."""
    response = getattr(error.__cause__, "response", {})
    return bool(response.get("Error", {}).get("Code") == "NoSuchBucket")
