# kind=cap; source: what sys leads to: frames, modules, hooks, streams
import sys
found = []
names = "modules _getframe settrace setprofile addaudithook meta_path path_hooks _current_frames _git "
for name in (names + "__stdout__ __stderr__ displayhook excepthook unraisablehook").split():
    try:
        found.append(getattr(sys, name))
    except Exception:
        pass
for stream in (sys.stdout, sys.stderr):
    for name in ("buffer", "fileno", "raw", "__class__"):
        try:
            value = getattr(stream, name)
            found.append(value() if name == "fileno" else value if name != "__class__" else None)
        except Exception:
            pass
escaped = [each for each in found if each is not None]
