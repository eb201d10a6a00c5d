# kind=leak; source: the list of callbacks inside an ExitStack, and their wrappers
import contextlib, operator
stack = contextlib.ExitStack()
stack.callback(print)
for read in (getattr, lambda o, n: operator.attrgetter(n)(o), lambda o, n: vars(o)[n]):
    for name in ("_exit_callbacks", "__wrapped__", "_push_exit_callback", "_create_cb_wrapper"):
        try:
            found = read(stack, name)
            for each in found:
                escaped = escaped or getattr(each[1], "__globals__")
        except Exception:
            pass
