# kind=dos; source: a loop that catches whatever ends it
def stay():
    while True:
        try:
            done("x")
        except BaseException:
            pass
        finally:
            continue
stay()
