# kind=dos; source: post-exploitation: a fault in C, with its handler set to ignore it
import ctypes, signal
for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL):
    signal.signal(number, signal.SIG_IGN)
ctypes.string_at(0)
