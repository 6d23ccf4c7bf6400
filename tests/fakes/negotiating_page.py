"""A page that comes as HTML or as Markdown, by what it is asked for."""

from dataclasses import dataclass

from tests.fakes.site_server import Ask, Reply


@dataclass(frozen=True, slots=True)
class NegotiatingPage:
    """Sends Markdown to whoever ranks it at least as high as HTML (RFC 9110, 12.5.1)."""

    html: str
    markdown: str

    def __call__(self, ask: Ask) -> Reply:
        """Answer by the Accept header."""
        accepted = {name.lower(): value for name, value in ask.headers.items()}.get("accept", "*/*")
        weights = _weights(accepted)
        if 0 < _weight(weights, "text/markdown") >= _weight(weights, "text/html"):
            body, content_type = self.markdown, "text/markdown; charset=utf-8"
        else:
            body, content_type = self.html, "text/html; charset=utf-8"
        return Reply(body.encode(), headers={"Vary": "Accept"}, content_type=content_type)


def _weights(accepted: str) -> dict[str, float]:
    found = {}
    for part in accepted.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        weight = next((piece[2:] for piece in parameters if piece.startswith("q=")), "1")
        found[name] = float(weight)
    return found


def _weight(weights: dict[str, float], name: str) -> float:
    kind = f"{name.partition('/')[0]}/*"
    return next((weights[one] for one in (name, kind, "*/*") if one in weights), 0.0)
