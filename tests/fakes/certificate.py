"""A certificate that signs itself."""

import shutil
import subprocess
from pathlib import Path

import pytest

_NAMES = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]


def write_certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate for this host, valid for two days, and its key; give both files."""
    if shutil.which("openssl") is None:
        pytest.skip("makes its certificate with openssl")
    key, certificate = folder / "key", folder / "certificate"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *_NAMES]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key
