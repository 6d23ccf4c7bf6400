"""An error and those that it came from."""

from collections.abc import Iterator


def error_chain(error: BaseException) -> Iterator[BaseException]:
    """Give the error, then what caused it, or was being handled when it was raised, to the first of all."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__
