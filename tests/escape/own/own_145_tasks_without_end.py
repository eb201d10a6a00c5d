# kind=dos; source: an event loop whose callbacks and sleepers never end
import asyncio
async def forever():
    while True:
        try:
            await asyncio.sleep(0)
        except BaseException:
            pass
def again(loop):
    loop.call_soon(again, loop)
    loop.call_later(0, again, loop)
async def main():
    loop = asyncio.get_running_loop()
    again(loop)
    await asyncio.shield(asyncio.gather(*[forever() for _ in range(100)]))
asyncio.run(main())
