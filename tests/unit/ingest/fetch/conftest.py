"""Names for sites on loopback."""

from tests.fakes.name_look_up import resolver

__all__ = ["resolver"]
