"""Why a file of the user's cannot be read or written, in words without its name."""


def os_error_reason(error: OSError | UnicodeDecodeError) -> str:
    """Return the reason alone: the message that it goes into names the file already."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not a UTF-8 text"
    return error.strerror or str(error)
