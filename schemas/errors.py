"""Everything sitegraph raises on purpose.

    SitegraphError
    ├── TransientError            try again later; tasks retry these and nothing else
    │   ├── FetchTimeout
    │   ├── HostBusy              carries retry_after
    │   ├── ParserUnavailable
    │   └── StoreUnavailable
    ├── TerminalError             trying again gives the same answer
    │   ├── FetchRefused
    │   ├── UnsupportedMedia
    │   ├── ParseError
    │   ├── SchemaMismatch
    │   ├── FilterError
    │   ├── QueryRefused
    │   ├── BudgetExceeded
    │   ├── ConfigError
    │   ├── GuardRefused
    │   │   └── PublishHeld
    │   ├── StaleLease
    │   ├── NoRoom
    │   ├── ChangesUnavailable
    │   └── DamageFound
    └── Stopped                   a stop was asked for (Ctrl-C, SIGTERM); what is done is kept

Each names its subject (a URL, a node id, a store, a file) and says what to do about it.
"""

from schemas.redaction import one_line


class SitegraphError(Exception):
    """Base of all errors raised on purpose; `str()` is one line fit for a terminal and a log."""

    def __init__(self, message: str, *, subject: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.subject = subject

    def __str__(self) -> str:
        message = one_line(self.message)
        return f"{one_line(self.subject)}: {message}" if self.subject else message

    def under(self, heading: str) -> str:
        """The same line below a heading, which a subject of that name does not repeat."""
        return one_line(self.message) if self.subject == heading else str(self)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.__dict__))


def _rebuild(cls: type[SitegraphError], message: str, state: dict[str, object]) -> SitegraphError:
    error = cls.__new__(cls)
    Exception.__init__(error, message)
    error.__dict__.update(state)
    return error


class TransientError(SitegraphError):
    """May succeed when tried again."""


class FetchTimeout(TransientError):
    """A host did not answer in time, or the network failed on the way."""


class HostBusy(TransientError):
    """A host asked us to wait (429, 503).

    Args: retry_after: seconds, or None when the host named no usable time.
    """

    def __init__(self, message: str, *, subject: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, subject=subject)
        self.retry_after = retry_after


class ParserUnavailable(TransientError):
    """No process that reads documents can be started; that is no fault of any document."""


class StoreUnavailable(TransientError):
    """A store cannot be reached or a pinned version has been pruned."""


class TerminalError(SitegraphError):
    """Fails the same way every time; recorded, never retried."""


class FetchRefused(TerminalError):
    """Our own rules forbid the request (address, scheme, robots.txt, limits)."""


class UnsupportedMedia(TerminalError):
    """The body is of a type or encoding that sitegraph does not read."""


class ParseError(TerminalError):
    """The bytes are not the document they claim to be, or exceed a limit."""


class SchemaMismatch(TerminalError):
    """A store or file contains another schema or another model than expected."""


class FilterError(TerminalError):
    """A filter names an unknown field or an impossible value."""


class QueryRefused(TerminalError):
    """The policy at the entry does not let a question pass."""


class BudgetExceeded(TerminalError):
    """What asking a model may cost is used up."""


class ConfigError(TerminalError):
    """A setting, source file or model file is wrong; the message names the key."""


class GuardRefused(TerminalError):
    """A run would do harm (seed unreachable, site empty, mass delete) and was stopped."""


class PublishHeld(GuardRefused):
    """Publishing is held: by a person, or since questions have lost their evidence."""


class StaleLease(TerminalError):
    """Somebody else holds, or has taken over, the lease this run wrote under."""


class NoRoom(TerminalError):
    """A disk, a quota or a database is full; nobody makes room while a task waits to try again."""


class ChangesUnavailable(TerminalError):
    """The change feed does not lead from the generation somebody has to the one readers see."""


class DamageFound(TerminalError):
    """A store does not contain what its generation says it contains."""


class Stopped(SitegraphError):
    """The run was asked to stop; running it again resumes."""
