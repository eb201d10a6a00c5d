# kind=cap; source: processes, threads, sockets and files by an event loop's methods
import asyncio
async def main():
    loop = asyncio.get_running_loop()
    for name, args in (
        ("subprocess_exec", (asyncio.AbstractEventLoop, "true")),
        ("subprocess_shell", (asyncio.AbstractEventLoop, "true")),
        ("create_connection", (asyncio.AbstractEventLoop, "127.0.0.1", target["tcp"])),
        ("create_unix_connection", (asyncio.AbstractEventLoop, "\0" + target["unix"])),
        ("getaddrinfo", ("localhost", 80)),
        ("run_in_executor", (None, len, "")),
        ("add_reader", (0, print)),
        ("add_signal_handler", (14, print)),
        ("sock_recv", (3, 10)),
    ):
        try:
            result = getattr(loop, name)(*args)
            if hasattr(result, "__await__"):
                result = await result
            if name != "run_in_executor" or result != 0:  # by a thread, or called on the spot
                reached.append((name, result))
        except BaseException:
            pass
reached = []
asyncio.run(main())
escaped = reached
