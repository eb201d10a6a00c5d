# kind=sys; source: odd names of arguments and calls through a gate's own type
for kwargs in ({"self": 1}, {"__class__": 2}, {"a b": 3}, {"": 4}, {"value": 5, "name": 6}, {"\ud800": 7}):
    try:
        echo(**kwargs)
    except Exception:
        pass
for call in (
    lambda: type(echo)(), lambda: type(echo)("done", print, {}), lambda: type(echo).__call__(echo, 1),
    lambda: type(echo).__new__(type(echo), "x", print, {"signature": "", "parameters": [], "seal": []}),
    lambda: type(echo).__call__(3), lambda: type(echo).__repr__(3), lambda: echo.__call__(1),
):
    try:
        call()
    except Exception:
        pass
