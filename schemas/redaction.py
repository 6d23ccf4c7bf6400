"""Text fit for a log line: nothing in it moves the cursor, and what a URL carries as a secret is masked."""

import re

_BREAK = re.compile(r"[\s\x1c-\x1f\x85\u2028\u2029]*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029][\s\x1c-\x1f]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_USER = re.compile(r"(?<=://)[^/?#@\s]+@")
_SECRET = re.compile(
    r"([?&;][^=&;#\s]*(?:token|key|password|passwd|pwd|secret|sig|signature|credential|auth|jwt)=)[^&;#\s]*",
    re.IGNORECASE,
)


def one_line(text: str) -> str:
    """Give *text* on one line, control and bidi signs escaped, secrets of URLs as `***`.

    A secret is user name and password before the host, and the value of a query key that ends in token,
    key, password, sig, signature and the like.
    """
    text = _SECRET.sub(r"\1***", _USER.sub("***@", _BREAK.sub(" ", text)))
    return _CONTROL.sub(lambda sign: f"\\x{ord(sign[0]):02x}", text)
