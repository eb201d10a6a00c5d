# kind=leak; source: a memo that __deepcopy__ is handed, written to
import copy
class Liar:
    def __deepcopy__(self, memo):
        seen.append(memo)
        for key in list(memo):
            memo[key] = int.__base__ if hasattr(int, "__base__") else "poison"
        memo[id(victim)] = "poison"
        return self
seen = []
victim = ["a"]
copy.deepcopy([Liar(), victim])
escaped = [m for m in seen if any(type(v).__name__ in ("module", "frame", "type") for v in m.values())]
