"""Stop asking a host that does not answer.

Source: crawl rules, section 12: five failures in a row open the circuit for 15 minutes, then one probe.
"""

FAILURES = 5
OPEN_SECONDS = 900.0


class Breaker:
    """Counts failures of one host; all times are monotonic seconds."""

    def __init__(self) -> None:
        self._failures = 0
        self._open_until: float | None = None
        self._probing = False

    def allows(self, now: float) -> bool:
        """Whether a request may go out; after the pause, one at a time."""
        return self._open_until is None or (now >= self._open_until and not self._probing)

    def started(self) -> None:
        """Note a request; the first one after the pause is the probe."""
        self._probing = self._open_until is not None

    def given_up(self) -> None:
        """Note a request that ended without telling anything of the host; the next one probes."""
        self._probing = False

    def busy(self, now: float) -> None:
        """Note a try without an answer, or with one that asks to come back; for a probe that is a failure."""
        if self._probing:
            self.failed(now)

    def failed(self, now: float) -> None:
        """Note a failure; a failed probe opens the circuit again at once."""
        self._failures += 1
        if self._probing or (self._open_until is None and self._failures >= FAILURES):
            self._open_until = now + OPEN_SECONDS
        self._probing = False

    def succeeded(self) -> None:
        """Note an answer, whatever its status: the host is there."""
        self._failures = 0
        self._open_until = None
        self._probing = False
