# kind=dos; source: code that catches whatever the deadline raises, again and again
import contextlib
class Swallow:
    def __enter__(self):
        return self
    def __exit__(self, *args):
        return True
while True:
    with Swallow(), contextlib.suppress(BaseException):
        try:
            while True:
                pass
        except BaseException:
            continue
        finally:
            continue
