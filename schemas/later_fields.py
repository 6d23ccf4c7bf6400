"""Fields that rows written before they existed do not have."""

from types import MappingProxyType
from typing import Final

LATER: Final = MappingProxyType({"later": True})
"""Metadata of such a field: records leave it out where it has its default, so those rows keep their hash."""
