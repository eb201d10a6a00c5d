# kind=cap; source: modules by computed names, dots, lies and submodules
import importlib
class Name(str):
    def __eq__(self, other):
        return other == "math" or str.__eq__(self, other)
    def __hash__(self):
        return hash("math")
    def partition(self, sep):
        return ("math", "", "")
    def startswith(self, *args):
        return False
names = "os posix sys gc ctypes _ctypes _thread threading socket subprocess marshal builtins _io io.open"
scope = {}
for name in names.split():
    for asked in (name, Name(name), "math." + name, "collections." + name, name.upper().lower()):
        for way in (importlib.import_module, lambda n: exec(f"import {n} as m", scope) or scope["m"]):
            try:
                module = way(asked)
                for key in ("system", "modules", "get_objects", "CDLL", "start_new_thread", "open"):
                    if hasattr(module, key):
                        escaped = (asked, key)
            except BaseException:
                pass
