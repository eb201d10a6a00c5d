# kind=sys; source: streams of the program's own, into which the runner may write
import sys
seen = []
class Stream:
    def write(self, text):
        seen.append(text)
        raise SystemExit("from a stream")
    def flush(self):
        raise KeyboardInterrupt
    def __getattr__(self, name):
        raise GeneratorExit
sys.stdout = sys.stderr = Stream()
try:
    sys.displayhook = sys.excepthook = lambda *args: seen.append(args)
except Exception:
    pass
{"a": 1}
1 / 0
