"""A coding entity: it mends a failing test in a real folder.

`read`, `write`, `list_dir` and `search` are bound to that folder, and `run_tests` is a gate of
this example's own: the host runs the folder's tests and gives the end of their output. Look at
the first mend, which makes one test pass and breaks another; the entity sees it and goes on.

The entity's programs are jailed; the tests that it writes or changes are not, for the host runs
them. With a model that you don't trust, do that in a container.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from _show import choose_llm, head, say, show_loom, show_turns
from circlet import Cantrip, Circle, Identity, gate

SLUG = '''"""Titles as parts of addresses."""


def slug(title: str, limit: int = 20) -> str:
    """The title in small letters, its words joined by "-", cut after a whole word."""
    text = "-".join(title.lower().split())
    return text[:limit]
'''
TESTS = """import unittest

from slug import slug


class TestSlug(unittest.TestCase):
    def test_words_are_joined(self):
        self.assertEqual(slug("Two  Words"), "two-words")

    def test_it_is_cut_after_a_whole_word(self):
        self.assertEqual(slug("The quick brown fox jumps"), "the-quick-brown-fox")

    def test_one_long_word_is_cut_anywhere(self):
        self.assertEqual(slug("Donaudampfschifffahrtsgesellschaft"), "donaudampfschifffahr")
"""
SCRIPT = [
    {"code": "print(list_dir())\nprint(run_tests())"},
    {
        "code": """
source = read('slug.py')
print(source)
print(search('slug', glob='test_*.py'))
"""
    },
    {
        "code": """
mended = source.replace("return text[:limit]", "return text[:limit].rpartition('-')[0]")
print(write('slug.py', mended))
print(run_tests())
"""
    },
    {
        "code": '''
better = """    if len(text) <= limit:
        return text
    cut = text[: limit + 1].rpartition("-")[0]
    return cut or text[:limit]
"""
print(write('slug.py', source.replace("    return text[:limit]\\n", better)))
result = run_tests()
print(result)
assert result.rstrip().endswith('OK'), 'not mended yet'
done('slug cut inside the last word; it cuts at the last "-" now, if there is one')
'''
    },
]


@gate(timeout_s=60, binds=("folder",))
def run_tests(*, folder: Path) -> str:
    """Run the folder's tests; gives the last lines of their output.

    Args:
        folder: Where the tests are; bound beforehand.
    """
    command = [sys.executable, "-B", "-m", "unittest", "discover"]
    try:
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        raise TimeoutError("the tests ran longer than 20 s: is there an endless loop?") from None
    return "\n".join(ran.stderr.splitlines()[-12:])


llm = choose_llm(SCRIPT)
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "slug.py").write_text(SLUG)
    (folder / "test_slug.py").write_text(TESTS)
    head("Before")
    say(run_tests.bind(folder=folder)())

    files = [{"name": one, "root": folder} for one in ("read", "write", "list_dir", "search")]
    cantrip = Cantrip(
        llm=llm,
        identity=Identity(
            system_prompt="You mend code. Run the tests first and last; change no test."
        ),
        circle=Circle(
            medium="code",
            gates=["done", *files, run_tests.bind(folder=folder)],
            wards=[{"max_turns": 12}, {"require_done_tool": True}],
        ),
    )
    cast = cantrip.cast("A test of this folder fails. Mend the code, and say what was wrong.")
    head("The entity at work")
    show_turns(cast)
    head("After")
    say(run_tests.bind(folder=folder)())
    say((folder / "slug.py").read_text())
show_loom(cast.loom)
