# kind=leak; source: string.Template with patterns of its own
import string
def f():
    pass
class T(string.Template):
    idpattern = r"[a-z_.]+"
    braceidpattern = r".*"
class Mapping:
    def __getitem__(self, key):
        seen.append(key)
        return f
seen = []
for text in ("$a.__globals__", "${a.__globals__}", "$a"):
    result = T(text).safe_substitute(Mapping())
    escaped = escaped or "__builtins__" in result
