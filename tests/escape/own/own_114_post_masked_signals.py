# kind=dos; source: post-exploitation: the deadline's signal blocked, ignored and its timer stopped
import ctypes, signal
signal.setitimer(signal.ITIMER_REAL, 0)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while True:
    pass
