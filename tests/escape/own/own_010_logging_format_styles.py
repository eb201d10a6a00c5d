# kind=leak; source: formatters of logging read attributes in each style
import io, logging, string
def f():
    pass
out = io.StringIO()
for style, text in (
    ("{", "{args[0].__globals__} {msg.__class__}"),
    ("{", "{exc_info[2].tb_frame.f_globals}"),
    ("$", "${args.__globals__}"),
    ("%", "%(args.__globals__)s"),
):
    try:
        handler = logging.StreamHandler(out)
        handler.setFormatter(logging.Formatter(text, style=style))
        logger = logging.getLogger("styles" + style + str(len(text)))
        logger.addHandler(handler)
        try:
            1 / 0
        except ZeroDivisionError:
            logger.error("x", f, exc_info=True)
    except Exception:
        pass
escaped = "__builtins__" in out.getvalue()
