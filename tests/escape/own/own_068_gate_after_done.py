# kind=sys; source: gates called in the finally blocks of a turn that is done
def last():
    try:
        done("first")
    finally:
        for _ in range(3):
            try:
                echo("late")
                done("second")
            except Exception:
                pass
class R:
    def __repr__(self):
        echo("while shown")
        done("while shown")
        return "r"
shown = R()
try:
    last()
except BaseException:
    shown
shown
