# kind=leak; source: hooks of a base that library functions subclass on the program's behalf
import collections, dataclasses, enum, typing
seen = []
class Base:
    def __init_subclass__(cls, **kwargs):
        seen.append((cls, kwargs))
        super().__init_subclass__()
    def __class_getitem__(cls, item):
        seen.append((cls, item))
        return cls
made = []
for make in (
    lambda: dataclasses.make_dataclass("A", ["x"], bases=(Base,)),
    lambda: enum.Enum("B", ["x"], type=Base),
    lambda: dataclasses.dataclass(slots=True)(Base),
    lambda: typing.NewType("C", Base),
    lambda: Base[int],
):
    try:
        made.append(make())
    except Exception:
        pass
inside = ("module", "frame", "code", "mappingproxy", "_EnumDict")
escaped = [each for pair in seen for each in pair if type(each).__name__ in inside]
