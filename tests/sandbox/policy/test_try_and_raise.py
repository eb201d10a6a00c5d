"""``try``, ``raise``, ``assert``: allowed; no clause holds an interrupt back."""

import pytest

PROGRAMS = {
    "all clauses": """
log = []
def f(x):
    try:
        log.append('try')
        return 1 / x
    except (ZeroDivisionError, KeyError) as e:
        log.append(str(e))
        return 'caught'
    except TypeError: return 'type'
    else: log.append('else')
    finally: log.append('finally')
f(0), f(1), f('a'), log
""",
    "else": "try: pass\nexcept Exception: r = 1\nelse: r = 2\nr",
    "finally after return, break, continue": """
def f():
    for i in range(3):
        try:
            if i == 0: continue
            return i
        finally: print('finally', i)
f()
""",
    "bare": "try: 1 / 0\nexcept: r = 'caught'\nr",
    "bare raise": "try:\n    try: 1 / 0\n    except: raise\n"
    "except ZeroDivisionError as e: r = str(e)\nr",
    "the name is gone afterwards": "try: 1 / 0\nexcept Exception as e: pass\n'e' in globals()",
    "kinds in a variable": "kinds = (KeyError, IndexError)\ntry: [][1]\n"
    "except kinds as e: r = str(e)\nr",
    "raise from": """
try:
    try: {}['k']
    except KeyError as e: raise ValueError('outer') from e
except ValueError as e: r = repr(e.__cause__), repr(e.__context__), e.__suppress_context__
r
""",
    "from None": """
try:
    try: 1 / 0
    except ZeroDivisionError: raise ValueError('v') from None
except ValueError as e: r = e.__cause__, repr(e.__context__), e.__suppress_context__
r
""",
    "the context": """
try:
    try: 1 / 0
    finally: [][0]
except IndexError as e: r = repr(e.__context__)
r
""",
    "notes": """
try:
    try: 1 / 0
    except Exception as e:
        e.add_note('while testing')
        raise
except ZeroDivisionError as e: r = e.__notes__
r
""",
    "a class or an object": "try: raise KeyError\nexcept KeyError as e: r = e.args\nr",
    "raised across functions": """
def a(): raise LookupError('deep')
def b():
    try: a()
    finally: print('b')
try: b()
except LookupError as e: print(e)
""",
    "own errors": """
class Low(Exception):
    def __init__(self, need, have):
        super().__init__(f'need {need}, have {have}')
        self.need = need
try: raise Low(5, 3)
except Low as e: r = e.need, str(e), e.args, repr(e)
r
""",
    "with_traceback": "try: raise ValueError('x').with_traceback(None)\n"
    "except ValueError as e: r = str(e)\nr",
    "assert": "try: assert 1 == 2, f'{1} is not {2}'\nexcept AssertionError as e: r = str(e)\n"
    "assert True\nr",
    "a failed assert": "assert [], 'empty'",
    "groups": """
try: raise ExceptionGroup('g', [ValueError('v'), ExceptionGroup('h', [KeyError('k')])])
except ExceptionGroup as g:
    r = g.message, str(g.exceptions[0]), [type(e).__name__ for e in g.subgroup(KeyError).exceptions]
    a, b = g.split(ValueError)
r, str(a.exceptions), str(b)
""",
    "BaseException": "try: raise BaseException('b')\nexcept BaseException as e: r = str(e)\nr",
    "GeneratorExit and KeyboardInterrupt": """
r = []
for kind in (KeyboardInterrupt, GeneratorExit, SystemExit):
    try: raise kind('x')
    except Exception: r.append('Exception')
    except BaseException as e: r.append(type(e).__name__)
r
""",
    "retry": """
tries = 0
while True:
    try:
        tries += 1
        if tries < 3: raise OSError('again')
        break
    except OSError: continue
tries
""",
    "nested functions' errors": "def f(n): return f(n - 1) if n else 1 / 0\nf(3)",
    "not an exception": "raise 5",
    "nothing to raise": "raise",
    "catching what is no class": "try: 1 / 0\nexcept 5: pass",
    "catching a text": "try: 1 / 0\nexcept 'x': pass",
    "catching a tuple in a tuple": "try: 1 / 0\n"
    "except ((ValueError, ArithmeticError), OSError): r = 'in'\nr",
    "default before others": "try: 1\nexcept: 2\nexcept ValueError: 3",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_exceptions_are_cpythons(same, what):
    """They are raised, caught, chained and shown as in CPython."""
    same(PROGRAMS[what])


def test_except_star_is_refused(refusal):
    """It says how a group is taken apart without it."""
    error = refusal("try: pass\nexcept* ValueError: pass")
    assert "except*" in error.message
    assert ".exceptions" in error.message
    assert error.line in (2, 3)


def test_no_clause_catches_the_end(box):
    """``done`` ends the turn through every kind of clause."""
    for clause in ("except Exception", "except BaseException", "except", "except (BaseException,)"):
        run = box.run(f"try:\n    done(5)\n{clause}:\n    pass\nprint('went on')")
        assert (run.status, run.answer, run.stdout) == ("done", 5, "")


def test_no_clause_catches_the_deadline(new_box):
    """A program that catches everything is stopped at its limit, its variables kept."""
    box = new_box(eval_ms=200)
    source = (
        "kept = 1\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass"
    )
    assert box.run(source).status == "timeout"
    assert box.run("kept").value == 1


@pytest.mark.parametrize("name", ["super", "__builtins__", "__traceback__"])
def test_the_caught_name_is_checked(refusal, name):
    """``except ... as`` binds a name, and deletes it."""
    assert name in refusal(f"try: pass\nexcept Exception as {name}: pass").message


@pytest.mark.parametrize(
    "form",
    [
        "try: {}\nexcept Exception: pass",
        "try: pass\nexcept {}: pass",
        "try: pass\nexcept Exception: {}",
        "try: pass\nexcept Exception: pass\nelse: {}",
        "try: pass\nfinally: {}",
        "raise {}",
        "raise x from {}",
        "assert {}",
        "assert x, {}",
    ],
)
def test_each_part_is_checked(refusal, form):
    """What stands in a clause is checked."""
    assert "__globals__" in refusal(form.format("print.__globals__")).message


@pytest.mark.parametrize("name", ["tb_frame", "tb_next"])
def test_a_traceback_is_closed(box, refusal, name):
    """It leads to frames, which lead out."""
    error = refusal(f"try: 1 / 0\nexcept Exception as e: e.{name}")
    assert name in error.message
    run = box.run(f"try: 1 / 0\nexcept Exception as e: getattr(e, '{name}')")
    assert run.status == "error"


def test_a_traceback_can_be_handed_on(box):
    """As the object that ``traceback`` takes; what it leads to is closed."""
    source = (
        "import traceback\ntry: 1 / 0\nexcept Exception as e: t = e.__traceback__\n"
        "e = ValueError('x').with_traceback(t)\n"
        "traceback.format_exception(type(e), e, e.__traceback__)[-1], t.tb_lineno"
    )
    assert box.run(source).value == ("ValueError: x\n", 2)
    assert box.run("t.tb_frame").status == "error"
    assert box.run("getattr(t, 'tb_frame')").status == "error"
