"""What the program says of itself."""

from importlib.metadata import PackageNotFoundError, version

from schemas.extras import PACKAGE

LICENCE = "AGPL-3.0-or-later"


def version_line() -> str:
    """Return name and version of what is installed, as `--version` prints them."""
    return f"{PACKAGE} {program_version()}"


def program_version() -> str:
    """Return the installed version; `unknown` where the packages run without having been installed."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return "unknown"
