# kind=leak; source: __format__ and __getitem__ that are called in the middle of formatting
seen = []
class Hook:
    def __format__(self, spec):
        seen.append(spec)
        return "{0.__class__}"
    def __getitem__(self, key):
        seen.append(key)
        return self
    def __getattr__(self, name):
        seen.append(name)
        return self
    def __missing__(self, key):
        seen.append(key)
        return self
hook = Hook()
for way in (
    lambda: f"{hook:{hook}}",
    lambda: "{0[a][b]}".format(hook),
    lambda: "{a[__class__]}".format_map({"a": hook}),
    lambda: "{0.a.__class__.__init__.__globals__}".format(hook),
):
    try:
        text = way()
        escaped = escaped or ("__builtins__" in text and text)
    except Exception:
        pass
escaped = escaped or [each for each in seen if type(each) is not str]
