# kind=leak; source: contexts of the process, read and entered
import contextvars, decimal
decimal.getcontext()
context = contextvars.copy_context()
found = []
for way in (
    lambda: list(context), lambda: list(context.items()), lambda: dict(context),
    lambda: [type(v) for v in context.values()],
):
    try:
        found.extend(way())
    except Exception:
        pass
var = contextvars.ContextVar("v")
token = var.set(1)
for name in ("old_value", "var"):
    found.append(getattr(token, name, None))
inside = ("module", "frame", "function", "Context")
escaped = [each for each in found if type(each).__name__ in inside and each is not decimal.getcontext()]
