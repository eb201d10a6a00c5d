# kind=cap; source: a showwarning of the program's and what a recorded warning holds
import warnings
seen = []
try:
    warnings.showwarning = lambda *args: seen.extend(args)
except Exception:
    pass
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("x", stacklevel=5)
    warnings.warn_explicit("x", UserWarning, "/etc/passwd", 1, module="os", registry={}, source=seen)
    for each in caught:
        seen.extend([each.source, each.file, each.category, each.message, each.filename, each.line])
inside = ("module", "frame", "code", "traceback", "TextIOWrapper")
escaped = [each for each in seen if type(each).__name__ in inside or "root:" in str(each)]
