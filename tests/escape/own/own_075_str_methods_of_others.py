# kind=leak; source: methods looked up on classes and given strange receivers
seen = []
for kind in (str, bytes, list, dict, int, tuple, set, type(None), type(print), type(done), type(iter([]))):
    for name in dir(kind):
        method = getattr(kind, name, None)
        for receiver in (done, print, ValueError, str):
            try:
                seen.append(method(receiver))
            except BaseException:
                pass
inside = ("module", "frame", "code", "traceback", "getset_descriptor", "mappingproxy", "cell")
escaped = [each for each in seen if type(each).__name__ in inside]
