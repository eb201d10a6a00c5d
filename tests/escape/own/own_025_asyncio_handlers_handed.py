# kind=cap; source: exception handlers and task factories keep what a loop hands them
import asyncio
seen = []
async def bad():
    1 / 0
async def main():
    loop = asyncio.get_running_loop()
    for name in ("set_exception_handler", "set_task_factory"):
        try:
            getattr(loop, name)(lambda *args, **kwargs: seen.extend(args))
        except Exception:
            pass
    handle = loop.call_soon(lambda: 1 / 0)
    seen.append(handle)
    loop.call_exception_handler({"message": "x"})
    await asyncio.sleep(0)
try:
    asyncio.run(main())
except BaseException:
    pass
for each in seen:
    parts = list(each.values()) if isinstance(each, dict) else [each]
    for part in parts:
        for name in ("_callback", "_args", "_loop", "_source_traceback", "cr_frame", "gi_frame"):
            try:
                escaped = getattr(part, name)
            except Exception:
                pass
