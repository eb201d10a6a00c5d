# kind=leak; source: a str whose methods lie to whoever checks it as a format
class S(str):
    def __contains__(self, part):
        return False
    def __iter__(self):
        return iter("plain")
    def __str__(self):
        return "plain"
    def __eq__(self, other):
        return True
    def __hash__(self):
        return 0
    def find(self, *args):
        return -1
    def replace(self, *args):
        return self
    def split(self, *args):
        return ["plain"]
    def startswith(self, *args):
        return False
    def partition(self, *args):
        return ("plain", "", "")
def f():
    pass
for way in (lambda s: s.format(f), lambda s: str.format(s, f), lambda s: s.format_map({"0": f})):
    try:
        text = way(S("{0.__globals__}"))
        escaped = escaped or ("__builtins__" in str.__str__(text) and text)
    except Exception:
        pass
