# kind=int; source: the mappings of a decimal context, written to
import decimal
context = decimal.getcontext()
for mapping in (context.traps, context.flags):
    for key in (decimal.Inexact, "x", int):
        try:
            mapping[key] = True
        except Exception:
            pass
for name in ("prec", "Emax", "traps", "clamp"):
    for thing in (decimal.DefaultContext, decimal.BasicContext, decimal.Decimal):
        try:
            setattr(thing, name, 1)
            escaped = escaped or (thing is decimal.Decimal and name)
        except Exception:
            pass
try:
    getattr(decimal.DefaultContext, "__reduce__")()
    escaped = escaped or "reduce"
except Exception:
    pass
