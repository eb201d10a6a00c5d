# kind=sys; source: SystemExit with codes that are the program's own objects
import sys
class Code(int):
    def __eq__(self, other):
        raise KeyboardInterrupt
    def __bool__(self):
        raise GeneratorExit
    def __str__(self):
        raise SystemExit("again")
    def __index__(self):
        raise SystemExit("again")
class Exit(SystemExit):
    @property
    def code(self):
        raise KeyboardInterrupt
    def __str__(self):
        raise Exit
try:
    sys.exit(Code(0))
except SystemExit:
    pass
raise Exit(Code(1))
