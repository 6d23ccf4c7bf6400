"""The files of the index, for copies of it: those that its generations name, and no others."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import Message, Receive, Scope, Send

from sitegraph.service.guard import DEADLINE
from sitegraph.service.parts import Parts
from sitegraph.service.problems import HttpProblem
from sitegraph.service.readers import ALLOW

PREFIX = "/index"

_PART = r"[A-Za-z0-9_][A-Za-z0-9_.+=-]*"
_READ = re.compile(
    r"CURRENT|index\.json|generations/[0-9]{1,10}\.json(?:\.sig)?"
    rf"|(?:lance|authority|encoder[\w-]*)(?:/{_PART})+|raw/[0-9a-f]{{2}}/[0-9a-f]{{2}}/[0-9a-f]{{64}}\.zst"
)
"""What `sitegraph pull` asks for: no part begins with a dot, and neither ledger nor vectors are among it."""


def index_file(root: Path, path: str) -> Path:
    """Return a file of an index that copies are made of. Raises: HttpProblem: 404."""
    file = root / path
    if not _READ.fullmatch(path) or not file.is_file() or root.resolve() not in file.resolve().parents:
        raise HttpProblem(404, "no such file of the index", "NotFound")
    return file


def files_endpoint(parts: Parts) -> Callable[[Request], Any]:
    """Return what answers `GET /index/PATH`, byte ranges included."""

    def find(request: Request) -> Path:
        narrowed = parts.narrowed(request.query_params.getlist(ALLOW))
        return index_file(narrowed.folder, request.path_params["path"])

    async def give(request: Request) -> Response:
        return _PatientFile(await asyncio.to_thread(find, request), seconds=parts.seconds)

    return give


class _PatientFile(FileResponse):
    """A file that may take longer than other answers, as long as its reader takes some of it."""

    media_type = "application/octet-stream"

    def __init__(self, path: Path, *, seconds: float) -> None:
        super().__init__(path)
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        deadline = scope.get(DEADLINE)

        async def send_on(message: Message) -> None:
            if deadline is not None:
                deadline.reschedule(asyncio.get_running_loop().time() + self._seconds)
            await send(message)

        await super().__call__(scope, receive, send_on)
