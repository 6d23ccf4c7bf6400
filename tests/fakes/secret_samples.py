"""Values that look like secrets and are none, drawn again by a seed so that no source file holds one."""

import base64
import json
import random
import string

WORD = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
URL_SAFE = WORD + "-_"
BASE64 = WORD + "+/"


def draw(length: int, characters: str = WORD, *, seed: int = 1) -> str:
    """So many characters by lot, the same for the same seed."""
    return "".join(random.Random(f"{seed} {length} {characters}").choices(characters, k=length))


def github_token(seed: int = 1) -> str:
    """A personal access token of GitHub by its form."""
    return "ghp" + "_" + draw(36, seed=seed)


def web_token(seed: int = 1) -> str:
    """A JSON Web Token that nobody signed."""
    claims = {"sub": draw(12, seed=seed), "name": draw(30, seed=seed)}
    parts = [json.dumps(part).encode() for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
    signed = [*parts, draw(32, seed=seed).encode()]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in signed)


def private_key(name: str = "RSA PRIVATE KEY", lines: int = 12, seed: int = 1) -> str:
    """A block of random lines under the head and foot of a private key."""
    body = "\n".join(draw(64, BASE64, seed=seed + number) for number in range(lines))
    return f"{'-' * 5}BEGIN {name}{'-' * 5}\n{body}\n{'-' * 5}END {name}{'-' * 5}"
