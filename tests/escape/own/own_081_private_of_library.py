# kind=leak; source: private names of library classes read through subclasses of the program's own
import asyncio, collections, contextlib, string, statistics, json, queue, sched
class Q(queue.Queue):
    def look(self):
        return [self._queue if hasattr(self, "_queue") else None, self._put, self._init]
class C(collections.UserDict):
    def look(self):
        return [self._abc_impl]
class F(string.Formatter):
    def look(self):
        return [self._vformat]
class E(contextlib.ExitStack):
    def look(self):
        return [self._exit_callbacks, self._push_exit_callback]
class S(sched.scheduler):
    def look(self):
        return [self._queue, self._lock]
class L(asyncio.Lock):
    def look(self):
        return [self._get_loop, self._loop]
for make in (Q, C, F, E, S, L):
    try:
        for each in make().look():
            for name in ("__globals__", "__func__", "__closure__"):
                if hasattr(each, name):
                    escaped = (make.__name__, name)
    except Exception:
        pass
