# kind=leak; source: a class with __dataclass_fields__ of the program's own making
import dataclasses
class Lying:
    def __init__(self, name):
        self.name = name
        self.init = self.compare = self.repr = True
        self.hash = None
        self.kw_only = False
        self.metadata = {}
    @property
    def _field_type(self):
        return real._field_type
@dataclasses.dataclass
class Real:
    a: int = 1
real = dataclasses.fields(Real)[0]
class Fake:
    a = 1
for name in ("__class__", "__init__", "__dict__", "__globals__"):
    for plant in (
        lambda: setattr(Fake, "__dataclass_fields__", {name: Lying(name)}),
        lambda: setattr(real, "name", name),
    ):
        try:
            plant()
        except Exception:
            continue
        for read in (dataclasses.asdict, dataclasses.astuple, dataclasses.replace, repr, hash):
            for thing in (Fake(), Real(), Lying(name)):
                try:
                    text = read(thing)
                    if isinstance(text, dict) and any(callable(v) for v in text.values()):
                        escaped = text
                except Exception:
                    pass
