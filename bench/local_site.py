"""A seeded site of pages of about 6.6 KB, served by nginx in a process of its own.

nginx sends strong ETags and answers conditional requests; what it costs is in nobody's figures.
"""

import random
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_VOCABULARY = (
    "lease ledger outbox reader vector fragment batch token guard index source crawl page section passage "
    "heading anchor table column value server client request answer header body cache validator interval"
)
_SEED = 20_250_101

_CONFIG = """
daemon off;
# One process under our own user: a worker of another one could not read a temporary folder.
master_process off;
pid {work}/nginx.pid;
error_log {work}/error.log;
events {{ worker_connections 512; }}
http {{
  access_log off;
  types {{ text/html html; text/plain txt; text/xml xml; }}
  charset utf-8;
  keepalive_requests 1000000;
  # Nothing stays fresh: who keeps a copy has to ask.
  add_header Cache-Control "max-age=0";
  client_body_temp_path {work}/body;
  proxy_temp_path {work}/proxy;
  fastcgi_temp_path {work}/fastcgi;
  uwsgi_temp_path {work}/uwsgi;
  scgi_temp_path {work}/scgi;
  server {{ listen 127.0.0.1:{port}; root {root}; }}
}}
"""


def write_site(folder: Path, *, pages: int) -> tuple[str, ...]:
    """Write robots.txt and *pages* pages, the same ones every time; give the pages' names in order."""
    folder.mkdir(parents=True)
    (folder / "robots.txt").write_text("User-agent: *\nDisallow: /private/\n")
    words = random.Random(_SEED)
    paragraphs = [f"<p>{' '.join(words.choices(_VOCABULARY.split(), k=60))}.</p>" for _ in range(200)]
    names = tuple(f"page-{number:05d}.html" for number in range(pages))
    for number, name in enumerate(names):
        (folder / name).write_text(_page(number, words.choices(paragraphs, k=14), words.choices(names, k=5)))
    return names


def _page(number: int, paragraphs: Sequence[str], links: Sequence[str]) -> str:
    listed = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return (
        f"<!doctype html><html lang=en><head><title>Page {number}</title></head><body><main>"
        f"<h1>Page {number}</h1>{''.join(paragraphs)}<ul>{listed}</ul></main></body></html>"
    )


def write_sitemap(folder: Path, urls: Sequence[str]) -> None:
    """List *urls* where crawlers look for it."""
    listed = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    (folder / "sitemap.xml").write_text(
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'
    )


@contextmanager
def serve_by_nginx(folder: Path, work: Path) -> Iterator[str]:
    """Serve *folder* on a free loopback port and give its address, `host:port`; *work* is nginx's own."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        raise SystemExit("nginx is not installed; on Debian: apt-get install nginx-light")
    work.mkdir(parents=True)
    port = _free_port()
    config = work / "nginx.conf"
    config.write_text(_CONFIG.format(work=work, root=folder, port=port))
    command = [nginx, "-p", str(work), "-c", str(config), "-e", str(work / "error.log")]
    with subprocess.Popen(command) as server:
        try:
            _await_port(port, server)
            yield f"127.0.0.1:{port}"
        finally:
            server.terminate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await_port(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        if server.poll() is not None:
            raise SystemExit(f"nginx ended with {server.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit("nginx does not answer")
