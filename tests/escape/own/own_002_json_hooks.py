# kind=cap; source: hooks and overridden methods of json's encoder and decoder
import json
seen = []
class Encoder(json.JSONEncoder):
    def default(self, o):
        seen.append(o)
        return None
    def encode(self, o):
        return super().encode(o)
    def iterencode(self, o, *rest, **named):
        seen.append((rest, named))
        return super().iterencode(o, *rest, **named)
class Decoder(json.JSONDecoder):
    def raw_decode(self, s, idx=0):
        for name in ("scan_once", "parse_object", "parse_array", "parse_string", "memo", "object_hook"):
            seen.append(getattr(self, name, None))
        return super().raw_decode(s, idx)
json.dumps({"a": {1}}, cls=Encoder, indent=1)
json.loads('{"a": [1, {"b": 2.5}]}', cls=Decoder, object_hook=seen.append, parse_float=seen.append)
for each in seen:
    for name in ("__globals__", "__self__", "__builtins__"):
        for one in each if isinstance(each, tuple) else (each,):
            try:
                escaped = getattr(one, name).get("__builtins__")
            except Exception:
                pass
