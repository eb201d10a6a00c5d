Exceptions: raising, catching, chaining, groups, cleaning up, tracebacks.

# === try_except_else_finally
def divide(a, b):
    try:
        result = a / b
    except ZeroDivisionError:
        return "zero"
    except TypeError as error:
        return f"type: {error}"
    else:
        return result
    finally:
        print("finally", a, b)
print(divide(6, 3), divide(1, 0), divide("1", 2))

# === exception_hierarchy
class AppError(Exception): pass
class NotFound(AppError):
    def __init__(self, key): super().__init__(f"no {key}"); self.key = key
class Denied(AppError): pass
for error in (NotFound("x"), Denied("who", 5), ValueError("v"), KeyError("k")):
    try:
        raise error
    except NotFound as e:
        print("not found", e.key, e.args)
    except AppError as e:
        print("app", e, e.args)
    except (ValueError, KeyError) as e:
        print("builtin", repr(e), str(e))

# === raise_from
def load(text):
    try:
        return int(text)
    except ValueError as error:
        raise RuntimeError(f"bad config {text!r}") from error
try:
    load("abc")
except RuntimeError as e:
    print(e, "|", type(e.__cause__).__name__, e.__cause__, e.__suppress_context__)
try:
    try:
        1 / 0
    except ZeroDivisionError:
        raise KeyError("second")
except KeyError as e:
    print(type(e.__context__).__name__, e.__cause__)
try:
    try:
        1 / 0
    except ZeroDivisionError:
        raise KeyError("third") from None
except KeyError as e:
    print(e.__cause__, e.__suppress_context__)

# === reraise
log = []
def outer():
    try:
        inner()
    except ValueError:
        log.append("outer saw it")
        raise
def inner():
    raise ValueError("deep")
try:
    outer()
except ValueError as e:
    print(e, log)

# === finally_and_return
def f():
    for i in range(3):
        try:
            if i == 1:
                continue
            print("body", i)
        finally:
            print("cleanup", i)
    return "end"
def g():
    try:
        return "try"
    finally:
        print("before return")
print(f(), g())

# === nested_try
def process(items):
    ok, bad = [], []
    for item in items:
        try:
            try:
                ok.append(int(item))
            except ValueError:
                ok.append(int(float(item)))
        except (ValueError, TypeError) as e:
            bad.append((item, type(e).__name__))
    return ok, bad
print(process(["1", "2.5", "x", None, "nan"]))

# === bare_except
def risky(n):
    try:
        return [1, 2][n]
    except:
        return "bare"
print(risky(0), risky(9))

# === custom_str_and_repr
class ParseError(Exception):
    def __init__(self, message, line, column):
        super().__init__(message)
        self.line, self.column = line, column
    def __str__(self): return f"{super().__str__()} at {self.line}:{self.column}"
try:
    raise ParseError("unexpected ')'", 3, 14)
except ParseError as e:
    print(e, repr(e), e.args)

# === exception_notes
try:
    e = ValueError("bad value")
    e.add_note("while reading row 5")
    e.add_note("check the file")
    raise e
except ValueError as caught:
    print(caught, caught.__notes__)

# === exception_group
def validate(data):
    errors = []
    if not data.get("name"): errors.append(ValueError("name missing"))
    if data.get("age", 0) < 0: errors.append(ValueError("age negative"))
    if "id" not in data: errors.append(KeyError("id"))
    if errors:
        raise ExceptionGroup("invalid", errors)
try:
    validate({"age": -1})
except ExceptionGroup as group:
    print(group, len(group.exceptions), [repr(e) for e in group.exceptions])
    values, rest = group.split(ValueError)
    print([str(e) for e in values.exceptions], [repr(e) for e in rest.exceptions], group.subgroup(OSError))

# === traceback_text
import traceback
def a(x):
    return b(x) + 1
def b(x):
    return 10 / x
try:
    a(0)
except ZeroDivisionError:
    print(traceback.format_exc())

# === traceback_only_last
import traceback
try:
    int("x")
except ValueError as e:
    print("".join(traceback.format_exception_only(type(e), e)).strip())

# === error_messages
tests = [lambda: int("abc"), lambda: float("x"), lambda: [][0], lambda: {}["k"], lambda: None.foo, lambda: "a" + 1,
         lambda: 1 + "a", lambda: len(5), lambda: 5(), lambda: "abc"[10], lambda: iter(3), lambda: next(iter([])),
         lambda: max([]), lambda: chr(-1), lambda: "x" * "y", lambda: undefined, lambda: [1, 2].foo, lambda: 10 % 0, lambda: 2.0 ** 10000]
for t in tests:
    try:
        t()
    except Exception as e:
        print(type(e).__name__, "|", e)

# === lookup_and_base_classes
for attempt in (lambda: [][1], lambda: {}[1]):
    try:
        attempt()
    except LookupError as e:
        print(type(e).__name__, isinstance(e, Exception), issubclass(type(e), LookupError))
for kind in (ZeroDivisionError, OverflowError): print(issubclass(kind, ArithmeticError))
print(issubclass(KeyboardInterrupt, Exception), issubclass(ModuleNotFoundError, ImportError), OSError is IOError)

# === suppress_and_exitstack
from contextlib import suppress, ExitStack
with suppress(KeyError, IndexError):
    {}["x"]
    print("never")
with ExitStack() as stack:
    for n in range(3):
        stack.callback(print, "closing", n)
    print("working")

# === validation_loop
def parse_age(text):
    try:
        age = int(text)
    except ValueError:
        raise ValueError(f"not a number: {text!r}") from None
    if not 0 <= age <= 150:
        raise ValueError(f"out of range: {age}")
    return age
for text in ("30", "abc", "-5", "999"):
    try:
        print(parse_age(text))
    except ValueError as e:
        print("error:", e)

# === error_in_finally
def f():
    try:
        raise ValueError("first")
    finally:
        raise KeyError("second")
try:
    f()
except KeyError as e:
    print(repr(e), repr(e.__context__))

# === exception_variable_scope
e = "outer"
try:
    raise ValueError("x")
except ValueError as e:
    saved = e
try:
    print(e)
except NameError as problem:
    print("e is gone", type(problem).__name__, saved)

# === ends_in_own_exception
class BudgetExceeded(RuntimeError):
    pass
spent = 0
for amount in (10, 20, 30):
    spent += amount
    print("spent", spent)
    if spent > 50:
        raise BudgetExceeded(f"spent {spent}")

# === ends_in_key_error
config = {"host": "localhost"}
print(config["host"])
print(config["port"])

# === ends_in_assertion
def check(n):
    assert isinstance(n, int), f"{n!r} is no int"
    return n
print(check(3))
check("3")

# === ends_in_syntax_error
def broken(:
    pass

# === ends_in_indentation_error
def f():
print("not indented")

# === ends_in_import_error
from math import square_root

# === raising_classes_and_instances
for thing in (ValueError, ValueError("v")):
    try:
        raise thing
    except ValueError as e:
        print(repr(e))
try:
    raise "text"
except TypeError as e:
    print(e)
try:
    raise StopIteration(5)
except StopIteration as e:
    print(e.value)

# === safe_get_patterns
data = {"user": {"profile": {"emails": ["a@x.org"]}}}
def dig(obj, *path, default=None):
    for step in path:
        try:
            obj = obj[step]
        except (KeyError, IndexError, TypeError):
            return default
    return obj
print(dig(data, "user", "profile", "emails", 0), dig(data, "user", "age"), dig(data, "user", "profile", "emails", 5, default="none"))

# === warnings_recorded
import warnings
def old(x):
    warnings.warn("old() is deprecated", DeprecationWarning, stacklevel=2)
    return x
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    old(1)
    warnings.warn("plain")
print([(w.category.__name__, str(w.message)) for w in caught])
with warnings.catch_warnings():
    warnings.simplefilter("error")
    try:
        old(2)
    except DeprecationWarning as e:
        print("raised", e)

# === circuit_breaker
class Open(Exception): pass
class Breaker:
    def __init__(self, limit): self.limit, self.failures = limit, 0
    def call(self, f, *args):
        if self.failures >= self.limit: raise Open("circuit open")
        try:
            result = f(*args)
        except Exception:
            self.failures += 1
            raise
        self.failures = 0
        return result
b = Breaker(2)
for x in (1, 0, 0, 1):
    try:
        print(b.call(lambda n: 10 // n, x))
    except (ZeroDivisionError, Open) as e:
        print(type(e).__name__, e)
