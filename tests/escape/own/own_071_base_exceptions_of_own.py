# kind=sys; source: exceptions past Exception, raised where the runner may stand
class Out(BaseException):
    def __str__(self):
        raise Out
    def __repr__(self):
        raise Out
class Value:
    def __repr__(self):
        raise Out
    def __len__(self):
        raise Out
    def __iter__(self):
        raise Out
import asyncio
value = Value()
for each in (Out, asyncio.CancelledError, StopIteration, GeneratorExit):
    try:
        raise each
    except BaseException:
        pass
value
raise Out(value)
