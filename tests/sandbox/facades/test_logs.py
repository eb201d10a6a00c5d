"""Logging goes to the turn's output, and shows nothing of the runner."""

from typing import Any

import pytest
from circlet.sandbox import Sandbox


def test_what_is_logged_is_printed(new_box: Any) -> None:
    """``basicConfig`` and handlers stay from turn to turn."""
    box = new_box()
    run = box.run(
        "import logging\nlogging.basicConfig(level=logging.INFO, encoding='utf-8')\n"
        "log = logging.getLogger(__name__)\nlog.info('one')"
    )
    assert run.stdout == "INFO:__main__:one\n"
    assert box.run("log.warning('two')").stdout == "WARNING:__main__:two\n"


def test_an_error_is_logged_with_the_programs_lines(new_box: Any) -> None:
    """``exception`` and ``exc_info`` show frames of the program alone, and no path."""
    run = new_box().run(
        "import json, logging\n"
        "try:\n    json.loads('{')\n"
        "except ValueError as e:\n    logging.exception('bad', stack_info=True)\n"
        "    logging.error('again', exc_info=e)"
    )
    assert run.stdout.count("json.loads('{')") == 2
    assert run.stdout.count("JSONDecodeError: Expecting property name") == 2
    assert 'Stack (most recent call last):\n  File "<turn 1>", line 5' in run.stdout
    assert ".py" not in run.stdout


def test_a_record_names_the_program_alone(new_box: Any) -> None:
    """File, line and function are the program's; process and thread have made-up numbers."""
    run = new_box().run(
        "import logging\nseen = []\n"
        "class H(logging.Handler):\n    def emit(self, r): seen.append(r)\n"
        "logging.getLogger().addHandler(H())\n"
        "def work(): logging.warning('x')\n"
        "def outer(): logging.getLogger('a').warning('y', stacklevel=2)\n"
        "work()\nouter()\n"
        "[(r.pathname, r.lineno, r.funcName, r.process, r.thread) for r in seen]"
    )
    assert run.value == [("<turn 1>", 6, "work", 1, 1), ("<turn 1>", 9, "<module>", 1, 1)]


def test_a_handler_that_fails_is_told(new_box: Any) -> None:
    """A record that can't be made a text ends no program."""
    run = new_box().run("import logging\nlogging.warning('%d', 'x')\n7")
    assert run.value == 7
    assert "--- Logging error ---" in run.stdout
    assert "Message: '%d'\nArguments: ('x',)\n" in run.stdout
    assert ".py" not in run.stdout


def test_files_are_an_error_that_says_so(new_box: Any) -> None:
    """A log file can't be had; the error says what to do."""
    run = new_box().run("import logging\nlogging.basicConfig(filename='app.log')")
    assert run.error is not None
    assert "there are no files here" in run.error.message


@pytest.mark.parametrize(
    "source",
    [
        "logging.Formatter('{exc_info[2].tb_frame.f_globals}', style='{').format(record)",
        "logging.Formatter('{args.__class__.__mro__}', style='{').format(record)",
        "logging.Formatter('{msg._x}', style='{').format(record)",
        "class F(logging.Formatter):\n"
        "    def __init__(self):\n        super().__init__('{a}', style='{')\n"
        "        self._text = '{exc_info[2].tb_frame}'\n"
        "F().format(record)",
        "logging.Logger.manager",
        "logging.FileHandler('x')",
        "logging.os",
        "logging.getLogger().findCaller()",
        "logging.root.manager.loggerDict",
    ],
)
def test_what_leads_on_is_closed(box: Sandbox, source: str) -> None:
    """No frame, no special attribute, no file and no module by way of a record or a format."""
    setup = (
        "import logging, sys\n"
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n"
        "    info = sys.exc_info()\n"
        "record = logging.makeLogRecord({'exc_info': info, 'args': (), 'msg': logging.root})\n"
    )
    assert box.run(setup).status == "ok"
    assert box.run(source).status == "error"
