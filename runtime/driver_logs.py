"""What the drivers of the stores write to stderr themselves, past Python's logging."""

import os


def show_errors_alone() -> None:
    """Have LanceDB tell errors alone, unless the environment says otherwise; call before it is imported.

    Its warnings ("partition 0 is empty") are for whoever calls it; a reader of logs can act on none.
    """
    for variable in ("LANCEDB_LOG", "LANCE_LOG"):
        os.environ.setdefault(variable, "error")
