"""Runs a program as in a system without IPv6, where no socket of that family can be made (EAFNOSUPPORT).

usage: without-ipv6.py PROGRAM [ARGUMENT...]
"""
import ctypes
import os
import platform
import struct
import sys

SOCKET, AF_INET6, EAFNOSUPPORT = {"x86_64": 41, "aarch64": 198}[platform.machine()], 10, 97
# seccomp(2): loads the number of the call and then its first argument, and compares them; all other calls are allowed.
RULES = [(0x20, 0, 0, 0), (0x15, 0, 3, SOCKET), (0x20, 0, 0, 16), (0x15, 0, 1, AF_INET6),
         (0x06, 0, 0, 0x50000 | EAFNOSUPPORT), (0x06, 0, 0, 0x7FFF0000)]

filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in RULES))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(RULES), ctypes.addressof(filters)))
libc = ctypes.CDLL(None, use_errno=True)
for option in [(38, 1, 0, 0, 0), (22, 2, ctypes.c_void_p(ctypes.addressof(program)), 0, 0)]:  # no new privileges, then the filter
    if libc.prctl(*option) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], sys.argv[1:])
