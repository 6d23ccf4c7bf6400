"""What is said of a ledger that cannot be opened."""

import pytest

from indexes.stores.ledger.ledger import open_ledger
from schemas.errors import SitegraphError

SECRET = "hunter2"


def refuses(url: str, kind: type[SitegraphError]) -> str:
    """Open a ledger that cannot be opened and give what is said of it."""
    with pytest.raises(kind) as refused:
        open_ledger(url)
    said = str(refused.value)
    assert "\n" not in said
    assert SECRET not in said
    return said
