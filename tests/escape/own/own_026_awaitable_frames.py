# kind=cap; source: frames of coroutines, async generators and awaitables by getters and patterns
import operator
class Own:
    def __await__(self):
        yield 1
async def coroutine():
    await Own()
async def stream():
    yield 1
started = coroutine()
started.send(None)
things = [started, stream(), stream().__anext__(), Own().__await__(), started.__await__()]
names = "cr_frame cr_code cr_await cr_origin ag_frame ag_code ag_await gi_frame gi_code gi_yieldfrom"
for thing in things:
    for name in names.split():
        for read in (getattr, lambda o, n: operator.attrgetter(n)(o), lambda o, n: vars(o)[n]):
            try:
                found = read(thing, name)
                if found is not None and type(found).__name__ in ("frame", "code"):
                    escaped = found
            except Exception:
                pass
for each in (started,):
    each.close()
