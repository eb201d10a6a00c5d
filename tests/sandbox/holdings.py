"""What a program may hold that no facade gives at once: its source, and where a walk begins."""

SOURCE = """
import asyncio, collections, contextlib, contextvars, csv, dataclasses, decimal, enum, functools
import inspect, io, json, logging, queue, random, re, string, traceback, typing, warnings, weakref
from abc import ABC

def function(one, two=[1], *rest, key="k", **more):
    return one

def generating():
    try:
        yield function
    finally:
        pass

async def waiting():
    await asyncio.sleep(0)
    raise ValueError("waited")

async def streaming():
    yield function

@contextlib.contextmanager
def entering():
    yield function

@dataclasses.dataclass
class Record(ABC):
    name: str = "n"
    kept: list = dataclasses.field(default_factory=list)

class Colour(enum.Enum):
    RED = 1
    _missing_ = classmethod(lambda kind, value: kind.RED)

class Bits(enum.Flag):
    ONE = 1
    TWO = 2

class Hints(typing.TypedDict):
    a: int

class Holding(typing.NamedTuple):
    format: str = "{}"

class Shape(typing.Protocol):
    def area(self) -> float: ...

class Meeting(asyncio.AbstractEventLoop):
    pass

loop = asyncio.new_event_loop()
held = {
    "generator": generating(),
    "coroutine": waiting(),
    "stream": streaming(),
    "context": entering(),
    "task": loop.create_task(waiting()),
    "future": loop.create_future(),
    "handle": loop.call_later(60, function),
    "failed": loop.create_task(waiting()),
    "record": Record(),
    "fields": dataclasses.fields(Record),
    "member": Colour.RED,
    "bits": Bits(3),
    "many": Holding(),
    "hints": Hints(a=1),
    "method": Record().__init__,
    "weak": weakref.ref(function),
    "weak_method": weakref.WeakMethod(logging.Formatter().format),
    "partial": functools.partial(function, 1),
    "cached": functools.lru_cache(function),
    "signature": inspect.signature(function),
    "pattern": re.compile("(?P<a>x)"),
    "match": re.match("(?P<a>x)", "x"),
    "row": csv.reader(["a,b"]),
    "reader": csv.DictReader(["a,b", "1,2"]),
    "text": io.StringIO("a"),
    "wrapper": io.TextIOWrapper(io.BytesIO()),
    "variable": contextvars.ContextVar("v", default=[]),
    "all": contextvars.copy_context(),
    "arithmetic": decimal.getcontext(),
    "template": string.Template("$a"),
    "formatter": string.Formatter(),
    "logger": logging.getLogger("a.b"),
    "stack": contextlib.ExitStack(),
    "random": random.Random(1),
    "alias": list[int],
    "union": int | str,
    "hint": typing.Optional["Record"],
    "property": property(function),
    "encoder": json.JSONEncoder(default=function),
    "decoder": json.JSONDecoder(object_hook=function),
    "queue": queue.Queue(),
    "runner": asyncio.Runner(),
    "group": asyncio.TaskGroup(),
    "ordered": collections.OrderedDict(a=1),
    "chain": collections.ChainMap({"a": 1}),
    "names": vars(Record()),
}
held["stack"].callback(function)
try:
    loop.run_until_complete(held["failed"])
except ValueError as error:
    held["error"], held["frames"] = error, traceback.extract_tb(error.__traceback__)
try:
    {}["missing"]
except KeyError as error:
    try:
        raise ExceptionGroup("several", [error, TypeError()])
    except ExceptionGroup as several:
        held["several"] = several
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("careful")
    held["warning"] = caught[0]
"""
