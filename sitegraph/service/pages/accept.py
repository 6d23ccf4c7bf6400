"""Whether an asker wants a page or a record."""


def wants_html(accept: str | None) -> bool:
    """Whether an Accept header names HTML, as that of every browser does; `*/*` does not.

    Source: RFC 9110, 12.5.1; a weight of 0 means "not acceptable".
    """
    for one in (accept or "").split(","):
        media, *parameters = (part.strip().lower() for part in one.split(";"))
        if media == "text/html":
            return not any(_is_zero(parameter) for parameter in parameters)
    return False


def _is_zero(parameter: str) -> bool:
    name, _, weight = parameter.partition("=")
    return name.strip() == "q" and weight.strip().rstrip("0") in ("", "0.", ".")
