# kind=cap; source: functions inside the properties of library classes
import fractions, ipaddress, datetime, uuid, statistics, pathlib, operator
kinds = [fractions.Fraction, ipaddress.IPv4Address, uuid.UUID, statistics.NormalDist, pathlib.PurePath]
for kind in kinds:
    for name in dir(kind):
        for inner in ("fget", "func", "__func__", "__wrapped__"):
            for last in ("__globals__", "__code__", "__builtins__", "__closure__"):
                for read in (
                    lambda o, n: getattr(o, n),
                    lambda o, n: operator.attrgetter(n)(o),
                ):
                    try:
                        found = read(read(read(kind, name), inner), last)
                        if found is not None:
                            escaped = found
                    except Exception:
                        pass
