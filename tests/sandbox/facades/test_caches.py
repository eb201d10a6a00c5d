"""``lru_cache(typed=True)``: as in CPython, though its keys hold no classes."""

from collections.abc import Callable


def test_typed_caches_are_those_of_cpython(same_as_cpython: Callable[[str], None]) -> None:
    """Calls with arguments of other classes are others, by place and by keyword."""
    same_as_cpython(
        "from functools import lru_cache\nfrom inspect import signature\ncalls = []\n"
        "@lru_cache(typed=True)\ndef f(x, *, y=0):\n    'Adds.'\n    calls.append(x)\n"
        "    return x + y\n"
        "@lru_cache(maxsize=1, typed=True)\ndef g(x): return x\n"
        "class A:\n    @lru_cache(maxsize=None, typed=True)\n    def m(self, x): return x\n"
        "a = A()\n"
        "results = [f(1), f(1.0), f(True), f(1), f(1, y=1), f(1, y=1.0), g(1), g(1.0), g(1),\n"
        "           a.m(1), a.m(1.0), a.m(1), lru_cache(len, typed=True)('ab')]\n"
        "infos = [tuple(one.cache_info()) for one in (f, g, A.m)]\n"
        "f.cache_clear()\n"
        "def raised(work):\n    try:\n        work()\n    except TypeError as error:\n"
        "        return str(error)\n"
        "[results, infos, calls, tuple(f.cache_info()), f.cache_parameters(),\n"
        " g.cache_parameters(),\n"
        " f.__name__, f.__doc__, f.__wrapped__(2), str(signature(f)),\n"
        " raised(lambda: f([]))]"
    )


def test_what_the_library_caches_is_as_in_cpython(same_as_cpython: Callable[[str], None]) -> None:
    """Its own typed caches are exchanged: what they keep is told apart as before."""
    same_as_cpython(
        "import fnmatch\nfrom typing import Annotated as A, Literal as L, get_args\n"
        "from urllib.parse import urlsplit\n"
        "[L[1] == L[True], L[1] is L[1], get_args(L[1, True, 1.0, 1]), L[1, 2] == L[2, 1],\n"
        " A[int, 1] == A[int, True], str(get_args(A[int, []])), A[A[int, 1], 2] == A[int, 1, 2],\n"
        " urlsplit('http://a/b?c').netloc, urlsplit(b'//a').netloc,\n"
        " fnmatch.fnmatch('a.py', '*.py'), fnmatch.fnmatch(b'a.py', b'*.py')]"
    )
