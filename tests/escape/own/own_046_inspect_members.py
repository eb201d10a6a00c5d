# kind=cap; source: inspect looks into functions, generators and classes
import inspect, json
def f():
    yield 1
running = f()
next(running)
inside = ("__globals__", "__code__", "__closure__", "gi_frame", "gi_code", "__builtins__")
for thing in (f, running, json.dumps, json.JSONEncoder, json.JSONEncoder.encode, inspect.signature):
    try:
        found = dict(inspect.getmembers(thing))
    except Exception:
        continue
    escaped = escaped or [name for name in inside if found.get(name) is not None]
for name in ("currentframe", "stack", "getframeinfo", "getclosurevars", "getattr_static", "sys", "os"):
    if hasattr(inspect, name):
        escaped = name
