exec and eval of texts, globals and locals.

# === eval_expressions
x = 5
print(eval("x * 2 + 1"), eval("[n ** 2 for n in range(4)]"), eval("max(3, x)"), eval("'a' + \"b\""), eval(" 1 "))
for text in ("2 + 3 * 4", "2 ** 10", "10 / 4", "(1 + 2) * 3"):
    print(f"{text} = {eval(text)}")

# === eval_with_names
print(eval("a + b", {"a": 1, "b": 2}), eval("a * k", {"k": 3}, {"a": 7}))
def area(w, h): return eval("w * h")
print(area(3, 4))

# === eval_errors
for bad in ("1 +", "1 / 0", "undefined_name", "x = 1"):
    try:
        eval(bad)
    except Exception as error:
        print(type(error).__name__)

# === exec_statements
exec("y = 10\ndef triple(n):\n    return n * 3")
print(y, triple(y))
code = """
total = 0
for i in range(5):
    total += i
print("inside", total)
"""
exec(code)
print(total)

# === exec_with_namespace
ns = {}
exec("def f(x):\n    return x + offset\noffset = 5\nvalue = f(1)", ns)
print(ns["value"], ns["f"](10), "offset" in ns)
scope = {"n": 3}
exec("m = n * 2", {}, scope)
print(scope)

# === exec_class_and_import
exec("""
import math
class Circle:
    def __init__(self, r): self.r = r
    def area(self): return math.floor(math.pi * self.r ** 2)
""")
print(Circle(2).area())

# === functions_from_text
def make(expression, *names):
    return eval(f"lambda {', '.join(names)}: {expression}")
f = make("a * b + 1", "a", "b")
print(f(3, 4), [make(f"x {op} 2", "x")(10) for op in "+-*/"])

# === globals_as_registry
def handle_a(): return "A"
def handle_b(): return "B"
print([globals()["handle_" + k]() for k in "ab"], "handle_c" in globals(), sorted(n for n in globals() if n.startswith("handle_")))
globals()["made_here"] = 42
print(made_here)

# === locals_in_functions
def f(a, b=2):
    c = a + b
    return {k: v for k, v in locals().items()}
print(f(1))
def g(name, place):
    return "{name} of {place}".format(**locals())
print(g("Ann", "York"))

# === vars_and_dir
class C:
    def __init__(self): self.a, self.b = 1, 2
    def method(self): pass
c = C()
print(vars(c), sorted(n for n in dir(c) if not n.startswith("_")), "__init__" in dir(c) or True)
print([n for n in dir("abc") if n.startswith("is")][:3], callable(getattr("abc", "upper")), getattr("abc", "upper")())

# === compiled_template
template = "Hello {{ name }}, you have {{ n * 2 }} items"
import re
def render(text, **values):
    return re.sub(r"\{\{(.*?)\}\}", lambda m: str(eval(m.group(1).strip(), {}, values)), text)
print(render(template, name="Bo", n=3))
