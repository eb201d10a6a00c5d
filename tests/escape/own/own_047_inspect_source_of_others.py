# kind=cap; source: getsource reads files
import inspect, json, textwrap
for thing in (json, json.dumps, textwrap.wrap, inspect, inspect.signature):
    try:
        text = inspect.getsource(thing)
        escaped = text
    except Exception:
        pass
class Fake:
    pass
for name, value in (("__file__", "/etc/passwd"), ("__module__", "os"), ("co_filename", "/etc/passwd")):
    try:
        setattr(Fake, name, value)
        text = inspect.getsource(Fake)
        if "root:" in text or "import" in text:
            escaped = text
    except Exception:
        pass
