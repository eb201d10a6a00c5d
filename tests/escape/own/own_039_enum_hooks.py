# kind=cap; source: Enum's private hooks and its helpers that read modules
import enum
seen = []
class E(enum.Enum):
    def _generate_next_value_(name, start, count, last):
        seen.extend([name, start, count, last])
        return name
    @classmethod
    def _missing_(cls, value):
        seen.append(cls)
        return None
    A = enum.auto()
try:
    E(5)
except ValueError:
    pass
for way in (
    lambda: enum.Enum._convert_("X", "os", lambda name: True),
    lambda: enum.IntEnum._convert_("X", "sys", lambda name: True),
    lambda: E._member_map_,
    lambda: getattr(enum.EnumType, "__prepare__")("X", ()),
    lambda: enum._simple_enum(enum.Enum),
    lambda: enum.Enum("X", {"__class__": 1, "mro": 2}),
    lambda: enum.global_enum(E),
):
    try:
        found = way()
        if not isinstance(found, dict) or "A" not in found:
            escaped = found
    except Exception:
        pass
