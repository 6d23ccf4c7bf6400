"""Importing lancedb without the half of it that local tables never touch.

`import lancedb` spends more than half of its time on the models of a REST client for catalogues, which it
names in the types of a few methods. A cold reader has a second in all, so stand-ins take the place of
these packages until one is used. Up to Python 3.11 a package also checks whether its methods override
others, in a fifth of a second; what takes its place does as `typing.override` later on: nothing.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_CATALOGUES = ("lance_namespace", "lance_namespace_urllib3_client")
_UNCHECKED = ModuleType("overrides")
vars(_UNCHECKED).update(override=lambda method: method, EnforceOverrides=type("EnforceOverrides", (), {}))


def import_lancedb() -> None:
    """Import lancedb with stand-ins for its catalogues; nothing happens where either is imported already."""
    if not any(name in sys.modules for name in ("lancedb", *_CATALOGUES)):
        with _standing_in():
            import_module("lancedb")


class _StandIn(type):
    """A class that is another one, whose module is imported when it is first called, asked or looked into."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls._real()(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls._real())

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(cls._real(), name)

    def _real(cls) -> Any:
        for name in [name for name, module in sys.modules.items() if isinstance(module, _Module)]:
            del sys.modules[name]
        return getattr(import_module(cls.__module__), cls.__name__)


class _Module(ModuleType):
    """Has a stand-in by any name; what is called an error can stand in an `except`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        bases = (Exception,) if name.endswith("Error") else ()
        found = _StandIn(name, bases, {"__module__": self.__name__})
        setattr(self, name, found)
        return found


class _Finder(MetaPathFinder, Loader):
    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        if fullname.partition(".")[0] in _CATALOGUES:
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is run."""


@contextmanager
def _standing_in() -> Iterator[None]:
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    checked = sys.modules.setdefault(_UNCHECKED.__name__, _UNCHECKED)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        if checked is _UNCHECKED:
            del sys.modules[_UNCHECKED.__name__]
