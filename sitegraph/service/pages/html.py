"""Templates to answers: every text escaped, every answer under headers that let a page do next to nothing."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import Response

from retrieval.bundle.render import tell_version
from schemas.unseen import replace_unseen
from sitegraph.service.pages.assets import asset_path

_TEMPLATES = Path(__file__).parent / "templates"

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""What a page may load: our own files. No script or style stands in a page itself."""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Vary": "Accept, Cookie",
}
"""Source: OWASP HTTP Headers Cheat Sheet; `X-Content-Type-Options` is of every answer, pages or not."""


def web_url(url: str | None) -> str | None:
    """Return *url* if a link may lead there: http and https alone, never `javascript:` or `data:`."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


@cache
def templates() -> Environment:
    """Return the environment of all pages.

    Whatever a template shows is escaped, and loses what steers: no page has to remember either.
    """
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_finalize,
    )
    made.globals["asset"] = asset_path
    made.filters["web_url"] = web_url
    made.filters["version_line"] = tell_version
    return made


def respond_html(
    template: str, values: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a page."""
    text = templates().get_template(template).render(values)
    given = {**HEADERS, "Cache-Control": "no-cache", **(headers or {})}
    return Response(text, status, headers=given, media_type="text/html")


def _finalize(value: Any) -> Any:
    return replace_unseen(value) if isinstance(value, str) and not isinstance(value, Markup) else value
