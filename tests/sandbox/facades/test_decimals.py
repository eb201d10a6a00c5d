"""``decimal``: flags and traps as in CPython, and none that outlives its context."""

from collections.abc import Callable

from circlet.sandbox import Sandbox


def test_flags_and_traps_are_those_of_cpython(same_as_cpython: Callable[[str], None]) -> None:
    """They are seen and set as items of a context's table, which follows what happens."""
    same_as_cpython(
        "import decimal\nfrom decimal import Decimal as D\n"
        "context = decimal.Context(prec=5, flags=[decimal.Rounded], traps=[])\n"
        "flags = context.flags\nbefore = flags[decimal.Inexact]\n"
        "context.divide(D(1), D(3))\nafter = flags[decimal.Inexact], flags[decimal.Rounded]\n"
        "other = decimal.Context(flags=flags, traps=context.traps)\n"
        "third = decimal.Context()\nthird.flags = other.flags\nthird.traps = {**context.traps}\n"
        "context.traps[decimal.DivisionByZero] = True\n"
        "def raised(work, *errors):\n"
        "    try:\n        work()\n    except errors as error:\n"
        "        return type(error).__name__\n"
        "with decimal.localcontext(context, traps=context.traps) as local:\n"
        "    zero = raised(lambda: D(1) / 0, decimal.DivisionByZero)\n"
        "flags.update({decimal.Clamped: True})\ncontext.clear_flags()\n"
        "[before, after, zero, len(flags), other.flags == third.flags, third.flags == flags,\n"
        " sorted(k.__name__ for k, on in third.flags.items() if on), any(flags.values()),\n"
        " decimal.Inexact in flags, flags.get(1), context.copy().traps == context.traps,\n"
        " raised(lambda: flags.pop(decimal.Inexact), ValueError), len(repr(flags)) > 100,\n"
        " raised(lambda: flags.__setitem__(int, True), KeyError),\n"
        " decimal.Context(5, None, -9).Emin,\n"
        " raised(lambda: setattr(context, 'traps', 1), TypeError),\n"
        " raised(lambda: setattr(context, 'flags', {}), KeyError),\n"
        " raised(lambda: setattr(context, 'prec', -1), ValueError)]"
    )


def test_flags_keep_their_context(box: Sandbox) -> None:
    """To set a flag of a context that nothing else holds changes no other context."""
    run = box.run(
        "from decimal import Context, Inexact\n"
        "left = [Context(prec=1, traps=[], flags=[]).flags for _ in range(100)]\n"
        "others = [Context(prec=1, traps=[], flags=[]) for _ in range(200)]\n"
        "for flags in left:\n    flags[Inexact] = True\n"
        "[all(flags[Inexact] for flags in left), any(c.flags[Inexact] for c in others)]"
    )
    assert run.value == [True, False]


def test_no_table_is_made_of_another_object(box: Sandbox) -> None:
    """The class of the tables makes none, so none reads what its maker names."""
    run = box.run("import decimal\ntype(decimal.getcontext().flags)(print, '__self__')")
    assert run.error is not None
    assert run.error.type == "TypeError"


def test_each_session_has_a_context_of_its_own(backend: str) -> None:
    """What one sets for its arithmetic is not set for another, nor for those that come after."""
    show = "import decimal\nstr(decimal.Decimal(1) / 3)"
    with Sandbox(backend=backend) as one, Sandbox(backend=backend) as other:
        one.run("import decimal\ndecimal.getcontext().prec = decimal.DefaultContext.prec = 3")
        assert one.run(show).value == "0.333"
        assert len(other.run(show).value) == 30
        with Sandbox(backend=backend) as later:
            assert len(later.run(show).value) == 30
