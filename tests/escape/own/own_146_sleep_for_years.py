# kind=dos; source: waiting, as a whole and in pieces
import time
while True:
    try:
        time.sleep(10**8)
    except BaseException:
        pass
