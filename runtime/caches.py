"""Where this machine keeps what can be made again."""

from pathlib import Path

from schemas.settings import Settings


def cache_folder(settings: Settings, name: str) -> Path:
    """Return the folder of one kind of thing: under SITEGRAPH_CACHE, or in the cache of the user.

    Source: XDG Base Directory Specification, and its like on other systems, by platformdirs.
    """
    if settings.cache:
        return Path(settings.cache) / name
    from platformdirs import user_cache_path

    return user_cache_path("sitegraph", appauthor=False) / name
