# kind=cap; source: what a task, its stack and its coroutine show
import asyncio
seen = []
async def work():
    await asyncio.sleep(0)
async def main():
    task = asyncio.create_task(work())
    for call in ("get_stack", "get_coro", "get_context", "get_loop", "print_stack", "exception"):
        try:
            found = getattr(task, call)()
            seen.append(found)
            seen.extend(found if isinstance(found, list) else [])
        except BaseException:
            pass
    await task
asyncio.run(main())
for each in seen:
    for name in ("f_globals", "cr_frame", "gi_frame", "cr_code", "f_back", "_callback"):
        try:
            escaped = getattr(each, name)
        except Exception:
            pass
