# kind=dos; source: one call of a library's whose time is the square of its input or worse
import difflib, textwrap, statistics, unicodedata, fnmatch
for way in (
    lambda: unicodedata.normalize("NFC", "\u0327\u0301" * 3_000_000),
    lambda: ("a" * 1_000_000 + "b").count("a" * 500_000 + "c"),
    lambda: difflib.SequenceMatcher(None, "ab" * 20_000, "ba" * 20_000).ratio(),
):
    way()
