# kind=dos; source: post-exploitation: every signal's handler set to what ends or ignores
import signal
for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_DFL)
    except (OSError, ValueError):
        pass
while True:
    pass
