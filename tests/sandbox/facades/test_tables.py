"""``csv`` is CPython's, and a reader that is asked while it asks is an error and no crash."""

from __future__ import annotations

from circlet.sandbox import Sandbox


def test_reading_is_that_of_cpython(same_as_cpython) -> None:
    """Rows, dialects, options, dictionaries, sniffing and the line number."""
    same_as_cpython("""
import csv, io
rows = list(csv.reader(io.StringIO("a,b\\n1,'x, y'\\n"), quotechar="'"))
tabs = csv.reader(["a\\tb", "c\\td"], "excel-tab")
first = next(tabs), tabs.line_num, tabs.dialect.delimiter
found = csv.Sniffer().sniff("a;b\\n1;2\\n").delimiter
people = list(csv.DictReader(io.StringIO("name;age\\nAnn;3\\n"), delimiter=";"))
numbers = list(csv.reader(["1,'a'"], quoting=csv.QUOTE_NONNUMERIC, quotechar="'"))
(rows, first, list(tabs), found, people, numbers)
""")


def test_a_reader_that_is_asked_while_it_asks_is_an_error(box: Sandbox) -> None:
    """CPython's own crashes there."""
    run = box.run("""
import csv
class Lines:
    asked = 0
    def __iter__(self): return self
    def __next__(self):
        Lines.asked += 1
        if Lines.asked == 1: next(rows)
        return "a,b"
rows = csv.reader(Lines())
next(rows)
""")
    assert "reading already" in str(run)
    assert box.run("next(rows)").value == ["a", "b"]
