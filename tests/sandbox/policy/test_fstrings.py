"""f-strings: allowed in all their forms; what stands inside is checked."""

import pytest

EXPRESSIONS = [
    "f'{1 + 1} {\"a\"} {{}} {[1, 2][0]}'",
    "f'{3.14159:.2f}|{5:>4}|{5:<4}|{5:^4}|{5:04d}|{255:#x}|{1234567:,}|{0.5:%}'",
    'f\'{"a"!r} {"é"!a} {3!s:>5}\'',
    '(w := 8, p := 3) and f\'{3.14159:{w}.{p}}|{"x":{"*"}^{w}}\'',
    "(x := 5) and f'{x=} {x = } {x=:>4} {x + 1=!r}'",
    'f\'{ {"a": 1}["a"] } {(lambda y: y * 2)(3)} {[c for c in "ab"]}\'',
    'f\'{"yes" if 1 else "no"} {1,} {*[1, 2],}\'',
    "rf'\\d{1}' fr'\\w' f'' 'plain'",
    "f'''{\n1\n}\n{2}'''",
    'f\'{"nested " + f"{1 + 1}"}\'',
    "f'{(a := 7)} {a}'",
    "f'{1:{\"\"}}'",
    'f\'{"a":{"{}"}>3}\'',
    "f'{1:x>{2 + 3}}'",
    "f'{10:{\"b\"}}'",
    "f'{1:zz}'",
    "f'{nowhere_bound}'",
    "f'{1/0}'",
]

PROGRAMS = [
    "class A:\n    def __format__(self, spec): return f'<{spec}>'\nf'{A():any text, here} {A()}'",
    "class A:\n    n = 1\n    def f(self): return 2\na = A()\nf'{a.n} {a.f()} {A.n:>3}'",
    "from datetime import date\nf'{date(2024, 2, 29):%d.%m.%Y}'",
    "d = {'k': [1, {'x': 'deep'}]}\nf'{d[\"k\"][1][\"x\"]}'",
]


@pytest.mark.parametrize("source", [*EXPRESSIONS, *PROGRAMS])
def test_an_fstring_is_cpythons(same, source):
    """Conversions, formats, nesting and ``=`` give what they give in CPython."""
    same(source)


NEWER = [
    "f'{\"a\" + f'{1}'}'",
    "f'{'\\n'.join(['a', 'b'])}'",
    "f'{[\n  1,  # with a comment\n][0]}'",
    "f'{f'{f'{1 + 1}'}'}'",
]


@pytest.mark.parametrize("source", NEWER)
def test_the_newer_grammar_is_cpythons(same, source):
    """What Python 3.12 allows inside is what this Python allows: a value, or its SyntaxError."""
    same(source)


@pytest.mark.parametrize(
    "source",
    [
        "f'{print.__globals__}'",
        "f'{1:{print.__globals__}}'",
        "f'{print.__globals__!r:>10}'",
        "f'{print.__globals__=}'",
        "f'''{f\"{print.__globals__}\"}'''",
        "f'{(lambda: print.__globals__)()}'",
        "f'{[x.__globals__ for x in [print]]}'",
    ],
)
def test_what_stands_inside_is_checked(refusal, source):
    """An expression in an f-string, or in its format, is an expression."""
    assert "__globals__" in refusal(source).message


def test_its_text_names_no_attribute(box):
    """An f-string's value is a text; only ``format`` reads what a text names."""
    assert box.run("f'{{0.__globals__}}'").value == "{0.__globals__}"
    assert box.run("f'{{0.__globals__}}'.format(print)").status == "error"
