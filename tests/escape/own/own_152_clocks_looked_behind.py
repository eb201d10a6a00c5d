# kind=int; source: what stands behind a clock that notes its reads, looked for or changed
import copy, datetime, functools, inspect, operator, os, sched, time, types, weakref
clocks = (time.time, time.localtime, datetime.datetime.now, os.urandom, sched.scheduler().timefunc)
names = ("__self__", "__func__", "_given", "_noted", "_real", "ahead", "family")
for clock in clocks:
    for name in names:
        for way in (
            lambda: getattr(clock, name),
            lambda: operator.attrgetter(name)(clock),
            lambda: getattr(functools.partial(clock), name),
            lambda: getattr(copy.deepcopy(clock), name),
            lambda: getattr(types.MethodType(clock, clock), name),
            lambda: dict(inspect.getmembers(clock))[name],
            lambda: weakref.WeakMethod(clock)().__self__,
        ):
            try:
                found = way()
            except Exception:
                continue
            if found is not clock:
                escaped = name
for place, name in ((datetime.datetime, "now"), (datetime.date, "today"), (time, "time"), (sched.scheduler, "timefunc")):
    try:
        setattr(place, name, lambda *a: 0)
        escaped = escaped or name
    except Exception:
        pass
