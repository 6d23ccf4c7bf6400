"""Which answers show that nobody is logged in."""

import pytest

from ingest.parse.html.logged_out import shown_sign
from schemas.fetch import FetchResult, FetchStatus
from schemas.source import LoggedOut

_URL = "https://docs.example.org/a"
_HTML = "text/html; charset=utf-8"


def _page(markup: str, content_type: str | None = _HTML) -> FetchResult:
    return FetchResult(url=_URL, status=FetchStatus.OK, body=markup.encode(), content_type=content_type)


def _moved(location: str) -> FetchResult:
    return FetchResult(url=_URL, status=FetchStatus.REDIRECTED, location=location)


_FORM = "<html><body><form id='login'><input name='user'></form></body></html>"
_AWAY = '<html><head><META http-equiv="Refresh" content="0; url=%s"></head><body>moved</body></html>'


@pytest.mark.parametrize(
    ("sign", "result", "shown"),
    [
        (LoggedOut(address="*/login*"), _moved("https://docs.example.org/login?next=/a"), True),
        (LoggedOut(address="https://sso.test/*"), _moved("https://sso.test/authorize?state=s3same"), True),
        (LoggedOut(address="https://sso.test/*"), _moved("https://docs.example.org/b"), False),
        (LoggedOut(address="*/login*"), _page(_AWAY % "/login"), True),
        (LoggedOut(address="*/login*"), _page(_AWAY % "/else"), False),
        (LoggedOut(address="*/login*"), _page('<p><a href="/login">log in</a> to refresh</p>'), False),
        (LoggedOut(selector="form#login"), _page(_FORM), True),
        (LoggedOut(selector="form#login"), _page(_FORM, content_type=None), True),
        (LoggedOut(selector="form#login"), _page("<p>write <code>&lt;form id='login'&gt;</code></p>"), False),
        (LoggedOut(selector="form#login"), _page("# <form id='login'>", "text/markdown"), False),
        (LoggedOut(selector="form#login"), _page("%PDF-1.7 form login", "application/pdf"), False),
        (LoggedOut(text="please  sign in"), _page("<p>Please <b>sign</b>\nin.</p>"), True),
        (LoggedOut(text="please sign in"), _page("<script>'please sign in'</script><p>page</p>"), False),
        (LoggedOut(text="bitte anmelden"), _page("<p>BITTE ANMELDEN"), True),
        (LoggedOut(selector="form#login", text="sign in"), _page("<p>sign in</p>"), True),
        (LoggedOut(selector="form#login"), _page(""), False),
        (LoggedOut(selector="form#login"), FetchResult(url=_URL, status=FetchStatus.NOT_MODIFIED), False),
    ],
)
def test_a_sign_is_seen_where_a_reader_would_see_it(
    sign: LoggedOut, result: FetchResult, shown: bool
) -> None:
    said = shown_sign(sign, result)
    assert (said is not None) is shown
    assert "s3same" not in str(said)
