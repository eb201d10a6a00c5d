# kind=cap; source: traceback's functions on frames that they are handed or find
import traceback, io, sys
found = []
try:
    1 / 0
except ZeroDivisionError as error:
    for way in (
        lambda: traceback.extract_tb(error.__traceback__), lambda: traceback.extract_stack(),
        lambda: traceback.format_exception(error), lambda: traceback.format_stack(),
        lambda: getattr(sys.exc_info()[2], "tb_frame"), lambda: traceback.format_tb(sys.exc_info()[2]),
        lambda: traceback.print_exception(error, file=io.StringIO()),
        lambda: traceback.TracebackException.from_exception(error, capture_locals=True),
        lambda: traceback.walk_stack(None), lambda: traceback.walk_tb(error.__traceback__),
    ):
        try:
            found.append(way())
        except Exception:
            pass
text = str(found)
escaped = [part for part in ("/circlet", "/work", "site-packages", "worker.py", "<frame") if part in text]
