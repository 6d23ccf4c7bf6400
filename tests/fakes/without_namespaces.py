"""Starts a program that may make no user namespaces, as in a container of Docker's default filter.

Run as a script: the arguments are the program's. Source: seccomp(2); numbers of x86-64.
"""

import ctypes
import os
import struct
import sys

_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _REFUSE, _MISSING = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38
_CLONE3, _CLONE, _UNSHARE, _NEW_USER = 435, 56, 272, 0x10000000
_NUMBER, _FIRST_ARGUMENT = 0, 16
_FILTER = (
    (_LOAD, 0, 0, _NUMBER),
    (_EQUAL, 0, 1, _CLONE3),
    (_RETURN, 0, 0, _MISSING),
    (_EQUAL, 1, 0, _CLONE),
    (_EQUAL, 0, 3, _UNSHARE),
    (_LOAD, 0, 0, _FIRST_ARGUMENT),
    (_ANY_BIT, 0, 1, _NEW_USER),
    (_RETURN, 0, 0, _REFUSE),
    (_RETURN, 0, 0, _ALLOW),
)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def main(command: list[str]) -> None:
    """Put the filter over this process for good, and become *command*."""
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in _FILTER))
    program = _Program(len(_FILTER), ctypes.cast(code, ctypes.c_void_p))
    library = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, seccomp, by_filter = 38, 22, 2
    assert library.prctl(no_new_privileges, 1, 0, 0, 0) == 0
    assert library.prctl(seccomp, by_filter, ctypes.byref(program), 0, 0) == 0
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
