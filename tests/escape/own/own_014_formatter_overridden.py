# kind=cap; source: string.Formatter whose methods are the program's own
import string
def f():
    pass
seen = []
class F(string.Formatter):
    def get_value(self, key, args, kwargs):
        return f
    def get_field(self, name, args, kwargs):
        seen.append((name, args, kwargs))
        try:
            return super().get_field("x.__globals__", args, kwargs)
        except Exception:
            return super().get_field("0.__globals__", [f], {})
    def convert_field(self, value, conversion):
        seen.append(value)
        return value
    def check_unused_args(self, *args):
        seen.extend(args)
for text in ("{0}", "{x}", "{x.y!r}"):
    try:
        F().format(text, f, x=f)
    except Exception:
        pass
escaped = [each for each in seen if isinstance(each, dict) and "__builtins__" in each]
