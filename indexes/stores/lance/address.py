"""How the driver is told where a folder is."""

import re
from pathlib import Path
from urllib.parse import quote

_TAKEN_AS_IT_IS = re.compile(r"[\w/ !$&'()+,.:;=@-]*", re.ASCII)


def address_of(directory: Path) -> str:
    """Return the address of a folder or of a prefix of a bucket.

    Of any path with another letter, such as `/home/jürgen`, lance 13 would make the folder of tags a second
    time, `/home/j%C3%BCrgen`, and fail where that may not be made. Its URL of the general driver, with the
    letters coded, is read as it is meant.

    >>> address_of(Path("/srv/index")), address_of(Path("/home/jürgen"))
    ('/srv/index', 'file-object-store:///home/j%C3%BCrgen')
    """
    path = str(directory)
    if "://" in path or _TAKEN_AS_IT_IS.fullmatch(path):
        return path
    return f"file-object-store://{quote(path)}"
