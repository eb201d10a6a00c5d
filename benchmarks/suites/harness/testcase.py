"""What a test of CPython's finds in place of ``unittest``.

With ``support`` this is the first turn of each program that is made of CPython's tests: plain
Python that runs on CPython and in a sandbox alike. Each further turn is a test and a call of
``_run``. What is not for tests has a private name, for a test file is free to use any other.
"""

import asyncio as _asyncio
import contextlib as _contextlib
import re as _re
import warnings as _warnings


class SkipTest(Exception):
    """A test that asks not to be run."""


class _Raised:
    """What ``with self.assertRaises(...)`` watches."""

    def __init__(self, kinds, pattern=None):
        self.kinds, self.pattern = kinds, pattern
        self.exception = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            names = self.kinds if isinstance(self.kinds, tuple) else (self.kinds,)
            raise AssertionError(f"{[each.__name__ for each in names]} not raised")
        if not issubclass(kind, self.kinds):
            return False
        self.exception = error
        if self.pattern is not None and not _re.search(self.pattern, str(error)):
            raise AssertionError(f"{self.pattern!r} not found in {str(error)!r}")
        return True

    def called(self, function, *args, **kwargs):
        with self:
            function(*args, **kwargs)


class _Warned:
    """What ``with self.assertWarns(...)`` watches."""

    def __init__(self, kinds, pattern=None):
        self.kinds, self.pattern = kinds, pattern
        self.warning = None

    def __enter__(self):
        self.recorder = _warnings.catch_warnings(record=True)
        self.seen = self.recorder.__enter__()
        _warnings.simplefilter("always")
        return self

    def __exit__(self, kind, error, trace):
        self.recorder.__exit__(kind, error, trace)
        if kind is not None:
            return False
        for each in self.seen:
            found = self.pattern is None or _re.search(self.pattern, str(each.message))
            if issubclass(each.category, self.kinds) and found:
                self.warning, self.filename, self.lineno = each.message, each.filename, each.lineno
                return False
        raise AssertionError(f"{self.kinds!r} not warned of")

    def called(self, function, *args, **kwargs):
        with self:
            function(*args, **kwargs)


class TestCase:
    """The part of ``unittest.TestCase`` that tests use."""

    failureException = AssertionError
    maxDiff = None
    longMessage = True
    skipped = None

    def __init__(self, method="run"):
        self._method = method
        self._cleanups = []

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        pass

    def tearDown(self):
        pass

    def id(self):
        return f"{type(self).__name__}.{self._method}"

    def addCleanup(self, function, /, *args, **kwargs):
        self._cleanups.append((function, args, kwargs))

    def enterContext(self, context):
        entered = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return entered

    def doCleanups(self):
        while self._cleanups:
            function, args, kwargs = self._cleanups.pop()
            function(*args, **kwargs)

    def skipTest(self, reason):
        raise SkipTest(reason)

    @_contextlib.contextmanager
    def subTest(self, message=None, **parameters):
        yield

    def fail(self, message=None):
        raise self.failureException(message)

    def addTypeEqualityFunc(self, kind, function):
        pass

    def _check(self, passed, message, said):
        if not passed:
            raise self.failureException(said if message is None else f"{said} : {message}")

    def assertTrue(self, value, msg=None):
        self._check(value, msg, f"{value!r} is not true")

    def assertFalse(self, value, msg=None):
        self._check(not value, msg, f"{value!r} is not false")

    def assertEqual(self, first, second, msg=None):
        self._check(first == second, msg, f"{first!r} != {second!r}")

    def assertNotEqual(self, first, second, msg=None):
        self._check(first != second, msg, f"{first!r} == {second!r}")

    def assertIs(self, first, second, msg=None):
        self._check(first is second, msg, f"{first!r} is not {second!r}")

    def assertIsNot(self, first, second, msg=None):
        self._check(first is not second, msg, f"both are {first!r}")

    def assertIsNone(self, value, msg=None):
        self._check(value is None, msg, f"{value!r} is not None")

    def assertIsNotNone(self, value, msg=None):
        self._check(value is not None, msg, "it is None")

    def assertIn(self, member, container, msg=None):
        self._check(member in container, msg, f"{member!r} not in {container!r}")

    def assertNotIn(self, member, container, msg=None):
        self._check(member not in container, msg, f"{member!r} in {container!r}")

    def assertIsInstance(self, value, kinds, msg=None):
        self._check(isinstance(value, kinds), msg, f"{value!r} is no {kinds!r}")

    def assertNotIsInstance(self, value, kinds, msg=None):
        self._check(not isinstance(value, kinds), msg, f"{value!r} is a {kinds!r}")

    def assertIsSubclass(self, value, kinds, msg=None):
        self._check(issubclass(value, kinds), msg, f"{value!r} is no subclass of {kinds!r}")

    def assertNotIsSubclass(self, value, kinds, msg=None):
        self._check(not issubclass(value, kinds), msg, f"{value!r} is a subclass of {kinds!r}")

    def assertHasAttr(self, value, name, msg=None):
        self._check(hasattr(value, name), msg, f"{value!r} has no {name!r}")

    def assertNotHasAttr(self, value, name, msg=None):
        self._check(not hasattr(value, name), msg, f"{value!r} has {name!r}")

    def assertGreater(self, first, second, msg=None):
        self._check(first > second, msg, f"{first!r} not greater than {second!r}")

    def assertGreaterEqual(self, first, second, msg=None):
        self._check(first >= second, msg, f"{first!r} not at least {second!r}")

    def assertLess(self, first, second, msg=None):
        self._check(first < second, msg, f"{first!r} not less than {second!r}")

    def assertLessEqual(self, first, second, msg=None):
        self._check(first <= second, msg, f"{first!r} not at most {second!r}")

    def assertAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        self._check(self._almost(first, second, places, delta), msg, f"{first!r} != {second!r}")

    def assertNotAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        self._check(not self._almost(first, second, places, delta), msg, f"{first!r} == {second!r}")

    def _almost(self, first, second, places, delta):
        if first == second:
            return True
        if delta is not None:
            return abs(first - second) <= delta
        return round(abs(first - second), 7 if places is None else places) == 0

    def assertRegex(self, text, pattern, msg=None):
        self._check(_re.search(pattern, text), msg, f"{pattern!r} not found in {text!r}")

    def assertNotRegex(self, text, pattern, msg=None):
        self._check(not _re.search(pattern, text), msg, f"{pattern!r} found in {text!r}")

    def assertCountEqual(self, first, second, msg=None):
        left, right = list(first), list(second)
        for each in left:
            self._check(each in right, msg, f"{each!r} is missing from {right!r}")
            right.remove(each)
        self._check(not right, msg, f"{right!r} is too much")

    def assertSequenceEqual(self, first, second, msg=None, seq_type=None):
        if seq_type is not None:
            self.assertIsInstance(first, seq_type)
            self.assertIsInstance(second, seq_type)
        self.assertEqual(list(first), list(second), msg)

    def assertListEqual(self, first, second, msg=None):
        self.assertSequenceEqual(first, second, msg, list)

    def assertTupleEqual(self, first, second, msg=None):
        self.assertSequenceEqual(first, second, msg, tuple)

    def assertSetEqual(self, first, second, msg=None):
        self.assertEqual(first, second, msg)

    def assertDictEqual(self, first, second, msg=None):
        self.assertEqual(first, second, msg)

    def assertMultiLineEqual(self, first, second, msg=None):
        self.assertEqual(first, second, msg)

    def assertRaises(self, kinds, *called, **kwargs):
        watch = _Raised(kinds)
        return watch.called(*called, **kwargs) if called else watch

    def assertRaisesRegex(self, kinds, pattern, *called, **kwargs):
        watch = _Raised(kinds, pattern)
        return watch.called(*called, **kwargs) if called else watch

    def assertWarns(self, kinds, *called, **kwargs):
        watch = _Warned(kinds)
        return watch.called(*called, **kwargs) if called else watch

    def assertWarnsRegex(self, kinds, pattern, *called, **kwargs):
        watch = _Warned(kinds, pattern)
        return watch.called(*called, **kwargs) if called else watch


class IsolatedAsyncioTestCase(TestCase):
    """A test case whose methods are coroutines."""

    async def asyncSetUp(self):
        pass

    async def asyncTearDown(self):
        pass


def _skipping(reason):
    def decorate(item):
        if isinstance(item, type):
            item.skipped = reason
            return item

        def skipped(*args, **kwargs):
            raise SkipTest(reason)

        return skipped

    return decorate


def _as_it_is(item):
    return item


class unittest:
    """What is used of the module of that name."""

    TestCase = TestCase
    IsolatedAsyncioTestCase = IsolatedAsyncioTestCase
    SkipTest = SkipTest

    @staticmethod
    def skip(reason):
        return _skipping(reason)

    @staticmethod
    def skipIf(condition, reason):
        return _skipping(reason) if condition else _as_it_is

    @staticmethod
    def skipUnless(condition, reason):
        return _as_it_is if condition else _skipping(reason)

    @staticmethod
    def expectedFailure(item):
        return _skipping("it is expected to fail")(item)


def _run(kind, name):
    """Run one test of a test case."""
    case = kind(name)
    if case.skipped:
        raise SkipTest(case.skipped)
    case.setUpClass()
    try:
        if isinstance(case, IsolatedAsyncioTestCase):
            _asyncio.run(_run_async(case, name))
        else:
            case.setUp()
            try:
                getattr(case, name)()
            finally:
                case.tearDown()
    finally:
        case.doCleanups()
        case.tearDownClass()


async def _run_async(case, name):
    case.setUp()
    await case.asyncSetUp()
    try:
        await getattr(case, name)()
    finally:
        await case.asyncTearDown()
        case.tearDown()
