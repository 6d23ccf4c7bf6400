"""`sitegraph keys`: the directory by which sites know whose signed requests they get."""

from pathlib import Path
from typing import Annotated

import typer

from runtime.settings import naming_file, read_settings


def keys(
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FOLDER", help="Write it where a web server finds it.")
    ] = None,
    also: Annotated[
        list[Path] | None,
        typer.Option("--also", metavar="KEYS.pem", help="File of further public keys, as of the key before."),
    ] = None,
) -> None:
    """Print the directory of the key that signs requests (SITEGRAPH_REQUEST_KEY), or write it into a folder.

    Serve it at SITEGRAPH_SIGNATURE_AGENT, under /.well-known/http-message-signatures-directory, as
    application/http-message-signatures-directory+json.

    Examples:

      sitegraph keys

      sitegraph keys --to /srv/www

      sitegraph keys --to /srv/www --also former.pub.pem
    """
    from ingest.fetch.signatures import DIRECTORY, DIRECTORY_TYPE
    from runtime.request_keys import directory_of
    from schemas.redaction import to_json

    text = to_json(directory_of(read_settings(None), also or ()), indent=2)
    if to is None:
        print(text)
        return
    file = to / DIRECTORY
    with naming_file(file, "cannot be written"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    print(f"wrote {file}; serve it as {DIRECTORY_TYPE}")
