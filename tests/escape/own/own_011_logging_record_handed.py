# kind=cap; source: a handler and a filter that keep the record they are handed
import logging
seen = []
class Keep(logging.Handler):
    def emit(self, record):
        seen.append(record)
    def handleError(self, record):
        seen.append(record)
class Sift(logging.Filter):
    def filter(self, record):
        seen.append(record)
        return True
logger = logging.getLogger("kept")
logger.addHandler(Keep())
logger.addFilter(Sift())
try:
    1 / 0
except ZeroDivisionError:
    logger.exception("x", stack_info=True)
for record in seen:
    for name in ("exc_info", "args", "stack_info", "module", "func", "pathname"):
        value = getattr(record, name, None)
        for each in value if isinstance(value, tuple) else (value,):
            for inner in ("tb_frame", "tb_next", "f_globals", "__globals__"):
                try:
                    escaped = getattr(each, inner)
                    break
                except Exception:
                    pass
