"""Ed25519 keys made by OpenSSL, as the documentation tells people to."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class KeyPair:
    """Files of a private key and of its public half, in PEM."""

    private: Path
    public: Path


def make_keys(folder: Path, name: str = "publisher") -> KeyPair:
    """Make a pair."""
    folder.mkdir(parents=True, exist_ok=True)
    pair = KeyPair(folder / f"{name}.pem", folder / f"{name}.pub.pem")
    _openssl("genpkey", "-algorithm", "ed25519", "-out", str(pair.private))
    _openssl("pkey", "-in", str(pair.private), "-pubout", "-out", str(pair.public))
    return pair


def openssl_verifies(pair: KeyPair, data: Path, signature: Path) -> bool:
    """Whether OpenSSL takes the signature for one of that key."""
    command = ["pkeyutl", "-verify", "-pubin", "-inkey", str(pair.public), "-rawin", "-in", str(data)]
    done = subprocess.run(
        ["openssl", *command, "-sigfile", str(signature)], check=False, capture_output=True, timeout=120
    )
    return done.returncode == 0


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=120)
