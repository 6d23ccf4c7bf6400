"""A host that does not answer is left alone."""

import pytest

from ingest.fetch.document import fetch_all
from ingest.fetch.host import OPEN_SECONDS
from schemas.errors import Stopped
from schemas.fetch import FetchRequest, FetchStatus
from tests.fakes.fetch_clock import QuickClock
from tests.fakes.fetching import fetch_one, session_for
from tests.fakes.site_server import Reply, Site, serve


def test_five_failing_pages_in_a_row_leave_the_rest_of_the_host_alone() -> None:
    site = Site({f"/{n}": Reply(b"", 500) for n in range(8)})
    with serve(site), session_for(site) as session:
        results = [fetch_one(session, site.url(f"/{n}")) for n in range(8)]
        assert {result.status for result in results} == {FetchStatus.FAILED}
        assert [result.requests for result in results] == [4] * 5 + [0] * 3
        assert "left alone" in results[-1].reason


def test_a_probe_that_is_stopped_halfway_leaves_the_host_to_the_next() -> None:
    clock = QuickClock()
    site = Site({f"/{n}": Reply(b"", 500) for n in range(5)})
    site.pages |= {"/slow": Reply(b"", stall=20), "/well": Reply(b"<p>page</p>")}
    with serve(site), session_for(site, clock=clock) as session:
        for n in range(5):
            fetch_one(session, site.url(f"/{n}"))
        clock.seconds += OPEN_SECONDS
        with pytest.raises(Stopped):
            fetch_all(
                [FetchRequest(url=site.url("/slow"))],
                session=session,
                on_result=lambda _: None,
                should_stop=lambda: "/slow" in site.paths(),
            )
        assert fetch_one(session, site.url("/well")).status is FetchStatus.OK
