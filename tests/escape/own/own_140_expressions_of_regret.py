# kind=dos; source: regular expressions that backtrack, grow or nest without end
import re
for pattern, text in (
    ("((a{1,1000}){1,1000}){1,1000}", "a"), ("(" * 5000 + "a" + ")" * 5000, "a"), ("(?:" * 50_000, "a"), ("a{4294967294}", "a"),
    ("|".join(f"a{n}" for n in range(50_000)), "a"),
):
    try:
        re.compile(pattern).match(text)
    except (re.error, RecursionError, MemoryError, OverflowError):
        pass
re.sub("(x+x+)+y", "", "x" * 40)
