"""System calls by their numbers: the beginning of each program that makes them (`probes.py`, `attributes.py`)."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
X86 = os.uname().machine == "x86_64"


def call(x86, other, *args):
    """Makes a system call by its number on x86-64, or its number on other machines."""
    args = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    result = libc.syscall(ctypes.c_long(x86 if X86 else other), *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


