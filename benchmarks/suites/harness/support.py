"""What a test of CPython's finds in place of ``test.support``.

It stands in one turn with ``testcase``, whose names it uses.
"""

import contextlib as _contextlib
import io as _io
import sys as _sys
import warnings as _warnings


class _AlwaysEqual:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


class _NeverEqual:
    def __eq__(self, other):
        return False

    def __ne__(self, other):
        return True

    def __hash__(self):
        return 1


class _Largest:
    def __eq__(self, other):
        return isinstance(other, _Largest)

    def __lt__(self, other):
        return False

    def __le__(self, other):
        return self == other

    def __gt__(self, other):
        return not self == other

    def __ge__(self, other):
        return True


class _Smallest:
    def __eq__(self, other):
        return isinstance(other, _Smallest)

    def __gt__(self, other):
        return False

    def __ge__(self, other):
        return self == other

    def __lt__(self, other):
        return not self == other

    def __le__(self, other):
        return True


class _WarningsHelper:
    """What is used of ``test.support.warnings_helper``."""

    @staticmethod
    @_contextlib.contextmanager
    def check_warnings(*filters, quiet=True):
        with _warnings.catch_warnings(record=True) as seen:
            _warnings.simplefilter("always")
            yield seen

    @staticmethod
    @_contextlib.contextmanager
    def check_no_warnings(case, message="", category=Warning, force_gc=False):
        with _warnings.catch_warnings(record=True) as seen:
            _warnings.simplefilter("always")
            yield
        case.assertEqual([str(each.message) for each in seen], [])

    @staticmethod
    def check_syntax_warning(case, statement, errtext="", *, lineno=1, offset=None):
        with _warnings.catch_warnings(record=True) as seen:
            _warnings.simplefilter("always", SyntaxWarning)
            compile(statement, "<testcase>", "exec")
        case.assertEqual([each.category for each in seen], [SyntaxWarning])
        case.assertRegex(str(seen[0].message), errtext)
        case.assertEqual(seen[0].lineno, lineno)

    @staticmethod
    def ignore_warnings(*, category):
        def decorate(test):
            def ignoring(*args, **kwargs):
                with _warnings.catch_warnings():
                    _warnings.simplefilter("ignore", category)
                    return test(*args, **kwargs)

            return ignoring

        return decorate


class support:
    """What is used of ``test.support``."""

    ALWAYS_EQ = _AlwaysEqual()
    NEVER_EQ = _NeverEqual()
    LARGEST = _Largest()
    SMALLEST = _Smallest()
    MAX_Py_ssize_t = _sys.maxsize
    verbose = False
    is_emscripten = is_wasi = False
    warnings_helper = _WarningsHelper

    @staticmethod
    def cpython_only(item):
        return item

    @staticmethod
    def requires_IEEE_754(item):
        return item

    @staticmethod
    def requires_docstrings(item):
        return item

    @staticmethod
    def impl_detail(reason=None, **guards):
        return _as_it_is if guards.get("cpython", not guards) else _skipping(reason)

    @staticmethod
    def check_impl_detail(**guards):
        return guards.get("cpython", not any(guards.values()))

    @staticmethod
    def requires_resource(name):
        return _skipping(name)

    @staticmethod
    def gc_collect():
        pass

    @staticmethod
    def captured_stdout():
        return _contextlib.redirect_stdout(_io.StringIO())

    @staticmethod
    def captured_stderr():
        return _contextlib.redirect_stderr(_io.StringIO())

    @staticmethod
    @_contextlib.contextmanager
    def adjust_int_max_str_digits(limit):
        before = _sys.get_int_max_str_digits()
        try:
            _sys.set_int_max_str_digits(limit)
            yield
        finally:
            _sys.set_int_max_str_digits(before)

    @staticmethod
    def check_syntax_error(case, statement, errtext="", *, lineno=None, offset=None):
        try:
            exec(statement, {})
        except SyntaxError as error:
            # A refusal is a kind of SyntaxError too, and not the one that is meant.
            case.assertEqual(type(error).__name__, "SyntaxError")
            case.assertRegex(str(error), errtext)
            if lineno is not None:
                case.assertEqual(error.lineno, lineno)
            if offset is not None:
                case.assertEqual(error.offset, offset)
        else:
            case.fail("SyntaxError not raised")

    @staticmethod
    @_contextlib.contextmanager
    def swap_item(container, item, value):
        missing = item not in container
        before = container.get(item)
        container[item] = value
        try:
            yield before
        finally:
            if missing:
                del container[item]
            else:
                container[item] = before


class test:
    """The package that ``support`` is found in."""

    support = support
