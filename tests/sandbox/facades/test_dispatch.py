"""``singledispatch``: as in CPython, for classes as well."""

from collections.abc import Callable

from circlet.sandbox import Sandbox


def test_functions_are_chosen_as_in_cpython(same_as_cpython: Callable[[str], None]) -> None:
    """By the class of the first argument; a class's class is ``type``."""
    same_as_cpython(
        "from abc import ABC\nfrom functools import singledispatch, singledispatchmethod\n"
        "@singledispatch\ndef show(x, y=0):\n    'Shows.'\n    return 'any'\n"
        "@show.register\ndef _(x: int, y=0): return 'int'\n"
        "@show.register(type)\ndef _(x, y=0): return 'class'\n"
        "@show.register(list)\n@show.register(tuple)\ndef many(x, y=0): return 'many'\n"
        "class A(ABC): pass\n"
        "class B:\n"
        "    @singledispatchmethod\n    def m(self, x): return 'any'\n"
        "    @m.register\n    def _(self, x: int): return 'int'\n"
        "    @m.register\n    @classmethod\n    def _(cls, x: str): return cls.__name__\n"
        "    @m.register\n    @staticmethod\n    def _(x: list): return len(x)\n"
        "    @m.register(type)\n    def _(self, x): return 'class'\n"
        "def raised(work):\n    try:\n        work()\n    except TypeError as error:\n"
        "        return str(error)\n"
        "[show(1), show(True), show('a'), show(int), show(A), show(A()), show([]), show((), y=1),\n"
        " show.dispatch(bool)(0), show.registry[list] is many, show.__name__, show.__doc__,\n"
        " B().m(1), B().m(None), B().m('a'), B.m('a'), B().m([1, 2]), B().m(int), raised(show),\n"
        " B.m.__name__]"
    )


def test_what_is_asked_is_no_class_of_classes(box: Sandbox) -> None:
    """A dispatcher of the program's own is asked for the ``type`` that makes no classes."""
    run = box.run(
        "from functools import singledispatchmethod\n"
        "class Own:\n    def dispatch(self, kind):\n        return lambda *_: kind is type\n"
        "choose = singledispatchmethod(lambda self, x: 0)\nchoose.dispatcher = Own()\n"
        "class A:\n    m = choose\nA().m(int)"
    )
    assert run.value is True
