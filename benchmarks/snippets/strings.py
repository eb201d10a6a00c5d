Text: methods, formatting of all kinds, unicode, bytes.

# === string_methods
s = "  Hello, World  "
print(s.strip(), s.lstrip() + "|", s.rstrip() + "|", s.lower(), s.upper(), s.swapcase(), s.title())
t = s.strip()
print(t.find("o"), t.rfind("o"), t.index("W"), t.count("l"), t.startswith("Hell"), t.endswith(("d", "x")))
print(t.replace("l", "L", 2), t.split(", "), t.partition(", "), t.rpartition("o"), "a,b,,c".split(","), " a  b ".split())
print("abc".center(9, "*"), "abc".ljust(5, "."), "abc".rjust(5), "7".zfill(3), "-7".zfill(4), "x".join("abc"))
print("one\ntwo\r\nthree".splitlines(), "ab\tc".expandtabs(4), "hello".capitalize(), "ß".casefold())
print("prefix_name".removeprefix("prefix_"), "file.py".removesuffix(".py"), "rsplit a b".rsplit(" ", 1))

# === string_predicates
for text in ("abc", "ABC", "abc1", "123", "½", "", " ", "Title Case", "a_b", "1a", "é"):
    print(repr(text), text.isalpha(), text.isdigit(), text.isnumeric(), text.isalnum(), text.isspace(),
          text.istitle(), text.isidentifier(), text.islower(), text.isupper(), text.isascii(), text.isprintable(), text.isdecimal())

# === slicing
s = "abcdefgh"
print(s[0], s[-1], s[2:5], s[:3], s[5:], s[::2], s[::-1], s[-3:], s[1:-1:3], s[100:], s[-100:2])
n = list(range(10))
print(n[2:8:3], n[::-2], n[7:2:-1], n[-1:-4:-1], n[:], n[5:2])
n[2:5] = ["a"]
n[::3] = [0] * len(n[::3])
print(n)
del n[1::2]
print(n, n[slice(1, 3)])

# === fstring_basics
name, width, value = "Ann", 10, 3.14159
print(f"{name} is {30 + 5} years old, {name.upper()!r} {name!s:>8} {value:.2f} {value:{width}.3f}|")
print(f"{{literal}} {'nested ' + 'quotes'} {[1, 2][0]} {dict(a=1)['a']} {(lambda x: x * 2)(21)}")
print(f"{value=:.1f} {width = } {name=!r} {1 + 1 = }")
print(f"{'é'!a} {None} {True!r:>6} {name:*^9} {name[0]}{name[-1]}")

# === fstring_numbers
n = 1234567.891
print(f"{n:,.2f} {n:_.1f} {n:e} {n:.3g} {n:>+15.1f} {n:015.2f} {-n:,.0f} {0.256:.1%} {5:03d} {5: d}")
print(f"{255:b} {255:o} {255:x} {255:#X} {255:#010b} {1000000:,} {1000000:_} {65:c} {12345.6789:n}")
print(f"{1e10:g} {0.00001:g} {float('inf'):f} {float('nan')} {1j:.1f} {3:.2f} {10**20:,}")

# === fstring_nested_spec
for align in "<^>=":
    print(f"[{-42:{align}{8}}] [{-42:*{align}8d}]")
rows = [("apple", 1.5), ("fig", 22.25)]
for label, price in rows:
    print(f"{label:<10}|{price:>8.2f}|{'#' * int(price):.10}")
precision = 3
print(f"{2 / 3:.{precision}f} {'x' * 3:>{precision * 2}}")

# === fstring_multiline_and_dates
from datetime import date, datetime
d = datetime(2024, 2, 29, 13, 5, 9)
print(f"{d:%Y-%m-%d %H:%M} {d:%A %d %B, week %W} {date(2024, 1, 1):%j}")
text = f"""
Report for {d:%b %Y}
  total: {sum([1, 2, 3]):>5}
  {'-' * 10}
"""
print(text)
print(f'{"double"} {1 if d.year % 4 == 0 else 2}' f" and {'adjacent'}")

# === fstring_nested_quotes, from 3.12
names = {"a": 1}
print(f"{names["a"]} {f"{f"{1 + 1}"}"} {"\n".join(["x", "y"])!r}")
print(f"{
    sum([1, 2])  # a comment
}")

# === str_format
print("{} {}".format("a", "b"), "{1} {0} {1}".format("a", "b"), "{name} is {age:>3}".format(name="Bo", age=7))
print("{0[1]} {1[key]} {2.real}".format([1, 2], {"key": "v"}, 3))
print("{:>10}|{:<10}|{:^10}|{:*^10}".format("r", "l", "c", "s"))
print("{:+.2e} {:,} {:.1%} {:08.3f} {!r} {{}}".format(12345.678, 9876543, 0.123, 3.14159, "q"))
print("{:{}}|{:{width}.{prec}}".format("x", 5, 3.14159, width=8, prec=3))
print("{a} {b}".format_map({"a": 1, "b": 2}))

# === str_format_objects
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __format__(self, spec):
        return f"<{self.x}:{self.y}>" if spec == "angle" else f"({self.x}, {self.y})"
p = Point(1, 2)
print("{0.x} {0.y:03d} {p:angle} {p}".format(p, p=p), f"{p:angle} {p}", format(p, "angle"))

# === format_map_missing
class Default(dict):
    def __missing__(self, key):
        return "{" + key + "}"
print("Dear {name}, your {item} is {state}".format_map(Default(name="Eve", state="ready")))

# === percent_formatting
print("%s is %d years and %.1f%%" % ("Al", 30, 99.5))
print("%5d|%-5d|%05d|%x|%o|%e|%g|%c|%r" % (42, 42, 42, 255, 8, 12345.678, 0.0001, "c", "q"))
print("%(name)s: %(value)08.3f" % {"name": "pi", "value": 3.14159})
print("%s" % [1, 2], "%s" % (None,), "%*d" % (6, 42), "%+d % d" % (5, 5), "%.3s" % "truncate")
print(b"%s-%d" % (b"raw", 5))

# === format_builtin
print(format(3.14159, ".2f"), format(42, "08b"), format("x", ">5"), format(1e6, ","), format(None), format([1]))
try:
    format("text", "d")
except ValueError as error:
    print(error)

# === template
from string import Template
t = Template("$name owes ${amount} dollars, $$5 fee")
print(t.substitute(name="Ann", amount=10))
print(t.safe_substitute(name="Bob"))
try:
    t.substitute(name="Cy")
except KeyError as error:
    print("missing", error)

# === formatter_class
import string
class Shouting(string.Formatter):
    def convert_field(self, value, conversion):
        if conversion == "u":
            return str(value).upper()
        return super().convert_field(value, conversion)
print(Shouting().format("{0!u} and {1} and {k:>4}", "loud", "soft", k=1))

# === unicode_text
import unicodedata
s = "naïve café 日本語 🎉"
print(len(s), s.upper(), s[::-1], s.encode("utf-8"), [hex(ord(c)) for c in "é🎉"])
decomposed = unicodedata.normalize("NFD", "é")
print(len(decomposed), unicodedata.name("é"), unicodedata.category("A"), unicodedata.lookup("SNOWMAN"))
plain = "".join(c for c in unicodedata.normalize("NFKD", s) if not unicodedata.combining(c))
print(plain.encode("ascii", "ignore").decode(), unicodedata.numeric("½"), unicodedata.east_asian_width("日"))
print("\N{GREEK SMALL LETTER ALPHA}\u03b2\x41\101\t|", "ǅ".title(), "ﬁ".casefold(), "İ".lower() == "i̇")

# === encoding_errors
print("é".encode("latin-1"), "é".encode("utf-16-le"), b"\xc3\xa9".decode(), "€".encode("cp1252"))
print("naïve".encode("ascii", "replace"), "naïve".encode("ascii", "xmlcharrefreplace"), "naïve".encode("ascii", "backslashreplace"))
print(b"ok\xff".decode("utf-8", "replace"), b"ok\xff".decode("utf-8", "ignore"))
for bad in (lambda: "é".encode("ascii"), lambda: b"\xff".decode("utf-8")):
    try:
        bad()
    except UnicodeError as error:
        print(type(error).__name__, error.start, error.end, error.reason)

# === bytes_methods
b = b"Hello\x00World"
print(b[0], b[1:4], b.split(b"\x00"), b.hex(), b.hex(" ", 2), bytes.fromhex("de ad"), list(b[:3]))
print(b.upper(), b.find(b"W"), b.replace(b"\x00", b" "), b.startswith(b"He"), bytes(3), bytes([65, 66]), b"a" * 3)
print(b"abc" < b"abd", b"a" in b"cat", 97 in b"cat", b"-".join([b"x", b"y"]), b"caf\xc3\xa9".decode(), bytes("é", "utf-8"))

# === bytearray_and_memoryview
data = bytearray(b"hello")
data[0] = ord("J")
data += b"!"
data.extend([33, 33])
data[1:3] = b"EE"
del data[-1]
print(data, len(data), data.decode(), bytes(data).isascii())
view = memoryview(data)
print(view[1:4].tobytes(), view[0], len(view), view.readonly, list(view[::2]))
view[0] = 74
view.release()
print(bytearray.fromhex("00ff"), bytearray(2), data.index(b"o"), data.pop())

# === translate
table = str.maketrans("aeiou", "43105", "xyz")
print("fizzy vowels are exciting".translate(table))
print("abc".translate({97: "A", ord("b"): None, 99: 0x43}), str.maketrans({"a": "1"}))

# === caesar_and_rot13
def caesar(text, shift):
    result = []
    for c in text:
        if c.isalpha():
            base = ord("A") if c.isupper() else ord("a")
            result.append(chr((ord(c) - base + shift) % 26 + base))
        else:
            result.append(c)
    return "".join(result)
secret = caesar("Hello, World!", 3)
print(secret, caesar(secret, -3))
import string
low, up = string.ascii_lowercase, string.ascii_uppercase
rot13 = str.maketrans(low + up, low[13:] + low[:13] + up[13:] + up[:13])
print("Hello".translate(rot13), "Hello".translate(rot13).translate(rot13))

# === palindromes_and_anagrams
def is_palindrome(s):
    cleaned = [c.lower() for c in s if c.isalnum()]
    return cleaned == cleaned[::-1]
print([is_palindrome(s) for s in ("A man, a plan, a canal: Panama", "hello", "")])
words = ["listen", "silent", "enlist", "google", "elbow", "below"]
groups = {}
for w in words:
    groups.setdefault("".join(sorted(w)), []).append(w)
print([g for g in groups.values() if len(g) > 1])

# === textwrap_all
import textwrap
text = "The quick brown fox jumps over the lazy dog and keeps running through the forest until night falls."
print(textwrap.fill(text, width=30))
print(textwrap.wrap(text, 40, initial_indent="* ", subsequent_indent="  "))
print(textwrap.shorten(text, width=40, placeholder="..."))
print(textwrap.dedent("""
    def f():
        return 1
    """))
print(textwrap.indent("a\n\nb", "> "))
print(textwrap.TextWrapper(width=20, max_lines=2).fill(text))

# === string_constants
import string
print(string.ascii_lowercase, string.ascii_uppercase, string.digits, string.hexdigits, string.octdigits)
print(string.punctuation, repr(string.whitespace), len(string.printable), string.capwords("hello big world"))

# === escapes_and_raw
print("tab\there", "quote\"s", 'it\'s', "back\\slash", "\x41\u0042\U00000043", r"raw\n", "a\
b", sep="|")
print("""triple "quotes" 'inside'""", '''line one
line two''', repr("mixed'\"\n\t\\"), len("\0"), "\a".encode())

# === string_building
lines = []
for i in range(1, 5):
    lines.append(" " * (4 - i) + "*" * (2 * i - 1))
print("\n".join(lines))
print("=" * 20, "-".join(str(n) for n in range(5)), "%".join("ab"), "ab" "cd", sep="\n")

# === word_wrap_by_hand
def justify(words, width):
    line, size = [], 0
    for word in words:
        if size + len(line) + len(word) > width:
            gaps = width - size
            for i in range(gaps):
                line[i % (len(line) - 1 or 1)] += " "
            yield "".join(line)
            line, size = [], 0
        line.append(word)
        size += len(word)
    yield " ".join(line).ljust(width)
for row in justify("This is an example of text justification.".split(), 16):
    print(f"|{row}|")

# === compare_and_sort_text
words = ["banana", "Apple", "cherry", "apple", "Äpfel", "10", "9"]
print(sorted(words), sorted(words, key=str.lower), sorted(words, key=len), max(words), "a" < "b" < "c", "Z" < "a")
print(sorted(words, key=lambda w: (len(w), w)), sorted(["10", "9", "2"], key=int))

# === surrogates
s = "a\ud800b"
print(len(s), ascii(s), s.encode("utf-8", "surrogatepass"), s.encode("utf-8", "replace"))
try:
    s.encode("utf-8")
except UnicodeEncodeError as error:
    print(error.reason)
