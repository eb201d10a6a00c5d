"""Modules that are given as they are: what they do in a jail is what they do outside."""

from collections.abc import Callable

import pytest

PROGRAMS = {
    "array": """
import array
a = array.array("i", [3, 1, 2])
a.append(7)
a.insert(0, True)
a.extend([4])
a.extend(a[:1])
a.fromlist([5, 6])
a[0], a[1:3] = 9, array.array("i", [8])
a += array.array("i", [0])
b = array.array("d", [1.5]) + array.array("d", [2])
b.extend(x / 2 for x in range(3))
errors = []
for action in (
    lambda: a.append(1.5), lambda: a.append("x"), lambda: b.append("1"), lambda: a.append(2**40),
    lambda: a.__setitem__(99, 1), lambda: a.__setitem__(slice(0, 1), [1]), lambda: a.extend(b),
    lambda: a.fromlist((1,)), lambda: array.array("z"), lambda: a.pop(99),
):
    try:
        action()
    except Exception as error:
        errors.append((type(error).__name__, str(error)))
(
    a.tolist(), a.tobytes(), a.typecode, a.itemsize, b.tolist(), a[1:].tolist(), array.typecodes,
    errors, bytes(memoryview(b)), array.array("u", "ab").tounicode(), a.index(8), a.count(3),
)
""",
    "base64": """
import base64 as b
data = bytes(range(60))
[
    f(g(data)) == data
    for g, f in [
        (b.b64encode, b.b64decode), (b.b32encode, b.b32decode), (b.b16encode, b.b16decode),
        (b.a85encode, b.a85decode), (b.b85encode, b.b85decode), (b.encodebytes, b.decodebytes),
        (b.urlsafe_b64encode, b.urlsafe_b64decode), (b.b32hexencode, b.b32hexdecode),
        (b.standard_b64encode, b.standard_b64decode),
    ]
], b.b64encode(data), b.urlsafe_b64encode(b"\\xfb\\xff")
""",
    "binascii": """
import binascii as b
data = b"some bytes \\x00\\xff"
try:
    b.a2b_base64("a")
except b.Error as error:
    said = str(error)
(b.hexlify(data, "-"), b.unhexlify("00ff"), b.crc32(data), b.crc_hqx(data, 0), said,
 b.a2b_uu(b.b2a_uu(data)), b.a2b_qp(b.b2a_qp(data)), b.a2b_base64(b.b2a_base64(data)))
""",
    "bz2, gzip, lzma and zlib": """
import bz2, gzip, lzma, zlib
data = b"abc" * 5000
c = zlib.compressobj(level=9)
z = c.compress(data) + c.flush()
d = lzma.LZMADecompressor()
u = bz2.BZ2Decompressor()
try:
    gzip.decompress(b"no such thing")
except gzip.BadGzipFile as error:
    said = str(error)
(
    [m.decompress(m.compress(data)) == data for m in (bz2, gzip, lzma, zlib)], zlib.crc32(data),
    zlib.adler32(data), zlib.decompressobj().decompress(z) == data, said, len(z),
    d.decompress(lzma.compress(data)) == data, u.decompress(bz2.compress(data)) == data,
    zlib.compress(data, wbits=-15) == zlib.compress(data)[2:-4], gzip.compress(data, mtime=0)[:4],
)
""",
    "calendar": """
import calendar as c
(
    c.month(2024, 2), c.monthrange(2024, 2), c.isleap(1900), c.leapdays(1900, 2000),
    c.weekday(2024, 2, 29), c.monthcalendar(2024, 2), c.timegm((1970, 1, 2, 0, 0, 0)),
    list(c.month_name), list(c.day_abbr), c.calendar(2023)[:200], c.weekheader(2),
    c.TextCalendar(c.SUNDAY).formatmonth(2023, 5), c.HTMLCalendar().formatmonth(2023, 5),
    [d.isoformat() for d in c.Calendar().itermonthdates(2024, 2)][:3], c.day_name[0],
)
""",
    "cmath": """
import cmath, math
(
    cmath.sqrt(-4), cmath.polar(1j), cmath.rect(2, 0), cmath.phase(-1), cmath.exp(1j * cmath.pi),
    cmath.isclose(1, 1 + 1e-12), cmath.log10(100), cmath.tau == math.tau, cmath.isnan(cmath.nan),
)
""",
    "codecs": """
import codecs
d = codecs.getincrementaldecoder("utf-8")()
e = codecs.getincrementalencoder("utf-16")()
(
    codecs.encode("Hello", "rot13"), codecs.decode(b"616263", "hex"), codecs.BOM_UTF8,
    d.decode(b"\\xc3"), d.decode(b"\\xa9"), codecs.encode("ä", "utf-16-le"), e.encode("a"),
    list(codecs.iterdecode([b"\\xc3", b"\\xa9"], "utf-8")), codecs.getencoder("latin-1")("é"),
    codecs.decode(codecs.encode(b"x" * 9, "zlib"), "zlib"), codecs.encode(b"a", "base64"),
    codecs.decode("a\\\\nb", "unicode_escape"),
)
""",
    "colorsys": """
import colorsys as c
[
    tuple(round(x, 9) for x in f(0.2, 0.4, 0.6))
    for f in (c.rgb_to_hls, c.hls_to_rgb, c.rgb_to_hsv, c.hsv_to_rgb, c.rgb_to_yiq, c.yiq_to_rgb)
]
""",
    "csv": """
import csv, io
text = 'name,n\\n"a, b",1\\n"c \\"\\"d\\"\\"",2\\n'
rows = list(csv.reader(io.StringIO(text)))
dicts = list(csv.DictReader(io.StringIO(text)))
out = io.StringIO()
w = csv.DictWriter(out, ["n", "name"], extrasaction="ignore", lineterminator="|")
w.writeheader()
w.writerows(dicts)
class Semi(csv.excel):
    delimiter = ";"
    quoting = csv.QUOTE_NONNUMERIC
csv.register_dialect("semi", Semi)
semi = io.StringIO()
csv.writer(semi, dialect="semi").writerows([[1, "a"], [2.5, 'b"']])
names = sorted(csv.list_dialects())
csv.unregister_dialect("semi")
sniffed = csv.Sniffer().sniff("a;b;c\\n1;2;3\\n4;5;6\\n")
try:
    csv.writer(out, delimiter="ab")
except TypeError as error:
    said = type(error).__name__
(
    rows, dicts, out.getvalue(), semi.getvalue(), names, sniffed.delimiter, said,
    csv.Sniffer().has_header("name,n\\na,1\\nb,2\\n"), list(csv.reader(["a\\tb"], "excel-tab")),
)
""",
    "decimal, fractions and numbers": """
import decimal, fractions, numbers
D, F = decimal.Decimal, fractions.Fraction
with decimal.localcontext() as ctx:
    ctx.prec = 5
    short = str(D(1) / D(7))
(
    short, str(D("1.10").quantize(D("0.1"), rounding=decimal.ROUND_UP)), D("1.5").as_tuple(),
    F(3, 4) + F(1, 4), F("0.125"), F(3.5).limit_denominator(10), isinstance(F(1), numbers.Rational),
    isinstance(1, numbers.Integral), isinstance(1j, numbers.Real), f"{D('1234.5'):,.2f}",
    decimal.DecimalTuple(0, (1, 2), -1), D("sNaN").is_snan(), hash(D(2)) == hash(2),
)
""",
    "difflib": """
import difflib
a, b = "one\\ntwo\\nthree\\n".splitlines(True), "one\\ntoo\\nthree\\nfour\\n".splitlines(True)
html = difflib.HtmlDiff()
(
    list(difflib.unified_diff(a, b, "a", "b")), list(difflib.context_diff(a, b)),
    list(difflib.ndiff(a, b)), difflib.get_close_matches("appel", ["ape", "apple", "peach"]),
    round(difflib.SequenceMatcher(None, "abcd", "bcde").ratio(), 6),
    difflib.SequenceMatcher(None, "qabxcd", "abycdf").get_opcodes(),
    list(difflib.restore(difflib.ndiff(a, b), 2)), list(difflib.Differ().compare(a, b)),
    tuple(difflib.SequenceMatcher(None, "ab", "b").find_longest_match()),
    [difflib.HtmlDiff().make_table(a, b).count("<tr>") for _ in range(2)],
)
""",
    "errno and http": """
import errno
from http import HTTPMethod, HTTPStatus
(
    errno.ENOENT, HTTPStatus.NOT_FOUND.value, HTTPStatus(200).phrase, str(HTTPMethod.GET),
    HTTPStatus.OK == 200,
)
""",
    "fnmatch, keyword and shlex": """
import fnmatch, keyword, shlex
try:
    shlex.split("it's")
except ValueError as error:
    said = str(error)
(
    fnmatch.filter(["a.py", "b.txt"], "*.py"), fnmatch.fnmatch("A", "a"), said,
    fnmatch.fnmatchcase("abc", "a[b-z]?"), keyword.iskeyword("def"), keyword.issoftkeyword("match"),
    list(keyword.kwlist), shlex.split("a 'b c' \\"d\\"e # f", comments=True), shlex.quote("a b"),
    shlex.join(["a", "b c"]),
)
""",
    "graphlib": """
from graphlib import CycleError, TopologicalSorter
order = list(TopologicalSorter({"d": {"b", "c"}, "b": {"a"}, "c": {"a"}}).static_order())
t = TopologicalSorter()
t.add(2, 1)
t.prepare()
ready = t.get_ready()
t.done(*ready)
try:
    list(TopologicalSorter({1: [2], 2: [1]}).static_order())
except CycleError as error:
    cycle = len(error.args[1])
(order[0], order[-1], ready, t.get_ready(), t.is_active(), cycle)
""",
    "hashlib and hmac": """
import hashlib, hmac, io
data = b"some bytes"
fixed = ("md5 sha1 sha224 sha256 sha384 sha512 sha3_224 sha3_256 sha3_384 sha3_512 "
         "blake2b blake2s").split()
h = hashlib.sha256()
h.update(b"a")
twin = h.copy()
h.update(b"b")
(
    {name: getattr(hashlib, name)(data).hexdigest() for name in fixed},
    {name: hashlib.new(name, data).hexdigest() for name in fixed}, twin.hexdigest(), h.digest(),
    hashlib.shake_128(data).hexdigest(9), hashlib.shake_256(data).digest(3), h.name, h.block_size,
    hashlib.pbkdf2_hmac("sha256", data, b"salt", 10), hashlib.scrypt(data, salt=b"s", n=2, r=8,
    p=1),
    hashlib.file_digest(io.BytesIO(data), "sha256").hexdigest(),
    hashlib.blake2b(data, key=b"k", digest_size=8).hexdigest(),
    set(fixed) <= hashlib.algorithms_guaranteed,
    hmac.new(b"k", data, "sha256").hexdigest(), hmac.digest(b"k", data, hashlib.sha1),
    hmac.compare_digest("a", "a"), hmac.new(b"k", data, hashlib.sha512).copy().digest_size,
)
""",
    "html": """
import html, html.entities
from html.parser import HTMLParser
class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []
    def handle_starttag(self, tag, attrs): self.seen.append((tag, attrs, self.getpos()))
    def handle_endtag(self, tag): self.seen.append("/" + tag)
    def handle_data(self, data): self.seen.append(data)
    def handle_comment(self, data): self.seen.append("#" + data)
    def handle_decl(self, decl): self.seen.append("!" + decl)
p = Links()
p.feed("<!DOCTYPE html><p class=a>x &amp; <b>y</b><!-- n --><br/>")
p.feed("<a href='/?a=1&amp;b'>l</a>")
p.close()
(html.escape("<a&'\\">"), html.unescape("&lt;&eacute;&#8364;&notit;"), p.seen,
 html.entities.name2codepoint["euro"], html.entities.html5["gt;"], html.entities.codepoint2name[38])
""",
    "io": """
import io
s = io.StringIO("one\\ntwo\\n")
b = io.BytesIO(b"abc")
b.seek(0, io.SEEK_END)
b.write(b"def")
t = io.TextIOWrapper(io.BytesIO("é\\nß\\n".encode()), encoding="utf-8")
with io.StringIO() as out:
    print("x", 1, file=out, end="!")
    printed = out.getvalue()
class Upper(io.StringIO):
    def write(self, text): return super().write(text.upper())
u = Upper()
u.write("abc")
try:
    s.fileno()
except io.UnsupportedOperation as error:
    said = str(error)
class Twos(io.RawIOBase):
    def readable(self): return True
    def readinto(self, room):
        room[:1] = b"2"
        return 0
(
    s.readline(), s.read(), s.tell(), list(io.StringIO("a\\nb")), b.getvalue(),
    bytes(b.getbuffer()),
    t.readlines(), printed, u.getvalue(), said, isinstance(s, io.TextIOBase), Twos().read(2),
    isinstance(b, io.IOBase), io.DEFAULT_BUFFER_SIZE, s.closed, out.closed,
)
""",
    "ipaddress": """
import ipaddress as ip
n = ip.ip_network("192.168.0.0/29")
try:
    ip.ip_address("300.1.1.1")
except ValueError as error:
    said = str(error)
(
    str(ip.ip_address("::1")), [str(h) for h in n.hosts()], n.num_addresses,
    str(n.broadcast_address),
    ip.ip_address("10.0.0.1") in ip.ip_network("10.0.0.0/8"),
    str(ip.ip_interface("1.2.3.4/24").network),
    [str(s) for s in n.subnets(new_prefix=30)], str(n.netmask), said,
    ip.ip_address("10.0.0.1").is_private,
    [str(x) for x in ip.collapse_addresses([ip.ip_network("1.0.0.0/9"),
    ip.ip_network("1.128.0.0/9")])],
    [str(x) for x in ip.summarize_address_range(ip.IPv4Address("1.0.0.0"),
    ip.IPv4Address("1.0.0.4"))],
    f"{ip.ip_address('1.2.3.4'):b}", int(ip.ip_address("0.0.1.0")), ip.ip_address("1.2.3.4").packed,
    ip.ip_address("2001:db8::1").exploded, ip.v4_int_to_packed(1), n.overlaps(n),
)
""",
    "json": """
import json, io
from json.decoder import JSONDecodeError
from json.encoder import JSONEncoder
class Sets(JSONEncoder):
    def default(self, o): return sorted(o) if isinstance(o, set) else super().default(o)
out = io.StringIO()
json.dump({"b": 1, "a": [1.5, None, True]}, out, indent=2, sort_keys=True)
try:
    json.loads("{'a': 1}")
except JSONDecodeError as error:
    said = (error.msg, error.lineno, error.colno, error.pos)
try:
    json.dumps(object)
except TypeError as error:
    no = str(error)
from decimal import Decimal
(
    out.getvalue(), json.dumps({1: {3, 2}}, cls=Sets), said, no, json.load(io.StringIO("[1]")),
    json.loads("1.10", parse_float=Decimal), json.loads('{"a": {"b": 1}}',
    object_hook=lambda d: list(d)),
    json.loads('{"a": 1, "a": 2}', object_pairs_hook=list), json.dumps("é€", ensure_ascii=False),
    json.dumps(1 + 2j, default=lambda c: [c.real, c.imag]), json.JSONDecoder().raw_decode("1 2"),
    list(json.JSONEncoder(separators=(",", ":")).iterencode([1, {"a": 2}])),
    json.loads(b"[NaN]")[0] != 0,
)
""",
    "locale": """
import locale
try:
    locale.setlocale(locale.LC_ALL, "xx_YY")
except locale.Error as error:
    said = str(error)
locale.setlocale(locale.LC_ALL, "C")
(locale.format_string("%d %.2f", (1000, 2.5), grouping=True), locale.atof("1.5"), locale.str(2.5),
said,
 locale.localeconv()["decimal_point"], sorted("bA", key=locale.strxfrm), locale.atoi("12"))
""",
    "operator": """
import operator as o
d = {"a": 1}
o.setitem(d, "b", 2)
o.delitem(d, "a")
(
    o.add(1, 2), o.itemgetter(1)("ab"), o.itemgetter(0, 2)("abc"), o.concat([1], [2]), d,
    o.contains([1], 1), o.indexOf([3, 4], 4), o.countOf("aab", "a"), o.truth([]), o.is_(d, d),
    o.not_(0), o.index(5), o.length_hint([1, 2]), o.iadd([1], [2]), o.call(max, 1, 2), o.mod(7, 3),
    o.getitem("abc", slice(1)), o.matmul is not None, o.xor(5, 1), o.floordiv(7, 2), o.pow(2, 5),
    sorted([(1, "b"), (0, "a")], key=o.itemgetter(1)), o.inv(5), o.and_(6, 3), o.neg(3),
)
""",
    "pprint and reprlib": """
import pprint, reprlib
from dataclasses import dataclass
from collections import OrderedDict, defaultdict, deque, Counter
from types import SimpleNamespace
@dataclass
class Point:
    name: str
    numbers: list
deep = {"k" * 20: list(range(30)), "set": {1, 2}, "n": {"a": {"b": {"c": 1}}}}
loop = [1]
loop.append(loop)
class Upper(pprint.PrettyPrinter):
    def format(self, object, context, maxlevels, level):
        if isinstance(object, str):
            return object.upper(), True, False
        return super().format(object, context, maxlevels, level)
r = reprlib.Repr()
r.maxlist = 2
class Me:
    @reprlib.recursive_repr("<me>")
    def __repr__(self): return f"Me({[self]!r})"
(
    pprint.pformat(deep), pprint.pformat(deep, width=30, depth=2, compact=True, sort_dicts=False),
    pprint.pformat(Point("a" * 50, list(range(25)))), pprint.pformat(["x" * 50] * 3, indent=3),
    pprint.pformat([OrderedDict(a=1), defaultdict(int), deque([1]), Counter("aab")], width=20),
    pprint.pformat(SimpleNamespace(a="b" * 50, c="d" * 50)), pprint.isreadable([1, "a"]),
    pprint.isrecursive(loop), pprint.saferepr({"b": 1, "a": 2}), Upper().pformat({"a": ["b"]}),
    pprint.pformat(123456789, underscore_numbers=True), reprlib.repr(list(range(100))),
    reprlib.repr("x" * 100), r.repr([1, 2, 3]), repr(Me()), reprlib.aRepr.maxdict,
)
""",
    "re": """
import re
def word(scanner, token): return ("word", token)
s = re.Scanner([(r"[a-z]+", word), (r"\\d+", lambda s, t: int(t)), (r"\\s+", None)])
p = re.compile(r"(?P<k>\\w+)=(?P<v>\\d+)", re.I)
(
    s.scan("ab 12 !"), p.groupindex["v"], p.match("a=1").groupdict(), p.sub(r"\\g<v>=\\g<k>",
    "a=1"),
    re.split(r"[,;]", "a,b;c"), re.escape("a.b"), p.fullmatch("x"), p.pattern,
    p.search("a=1").expand(r"\\2"),
    re.findall(r"(a)(b)?", "aab"), [m.span() for m in p.finditer("a=1 b=22")],
    re.I | re.M == re.M | re.I,
    re.sub("x", lambda m: m.group().upper(), "axb", count=1), re.subn("a", "b", "aa"),
)
""",
    "sched": """
import sched
now, seen = [0], []
def wait(seconds): now[0] += seconds
s = sched.scheduler(lambda: now[0], wait)
s.enter(2, 1, seen.append, ("late",))
s.enter(1, 1, seen.append, argument=("early",))
s.enter(1, 0, seen.append, argument=("first",))
gone = s.enter(5, 1, print)
s.cancel(gone)
left = len(s.queue)
s.run()
(seen, s.empty(), left, now)
""",
    "statistics": """
import statistics as s
d = [1, 2, 2, 3, 4, 9]
n = s.NormalDist(5, 2)
(
    s.mean(d), s.median(d), s.mode(d), s.multimode("aabb"), round(s.stdev(d), 9), s.quantiles(d),
    s.pvariance(d), round(n.cdf(6), 9), round(n.inv_cdf(0.3), 9), s.fmean(d), s.harmonic_mean([1,
    4]),
    round(s.correlation(d, d[::-1]), 9), tuple(s.linear_regression([1, 2], [2, 4])),
    s.median_low(d),
    round(s.geometric_mean(d), 9), s.median_grouped(d), n.mean, (n + n).stdev,
)
""",
    "string and textwrap": """
import string, textwrap
class Percent(string.Template):
    delimiter = "%"
    idpattern = "[a-z]+"
t = string.Template("$who likes ${what} $$5")
try:
    t.substitute(who="x")
except KeyError as error:
    missing = error.args
wrapper = textwrap.TextWrapper(width=20, initial_indent="* ", subsequent_indent="  ")
long = "The quick\\tbrown\\nfox jumped over the lazy dog, again and again."
(
    t.substitute(who="a", what="b"), t.safe_substitute(who="a"), Percent("%x %y").substitute(x=1,
    y=2),
    missing, wrapper.wrap(long), textwrap.fill(long, 15), textwrap.shorten(long, 20),
    string.capwords("a b"),
    textwrap.dedent("  a\\n   b"), textwrap.indent("a\\n\\nb", "> "), string.punctuation,
    string.hexdigits,
    textwrap.wrap("a\\x0bb\\u3000c\\u00a0d " * 3, 7), wrapper.width,
)
""",
    "struct": """
import struct
s = struct.Struct("<hIq4s?d")
room = bytearray(8)
struct.pack_into(">H", room, 2, 258)
try:
    struct.pack("B", 300)
except struct.error as error:
    said = str(error)
(
    s.pack(-1, 2, 3, b"ab", True, 1.5), s.unpack(s.pack(-1, 2, 3, b"ab", True, 1.5)), s.size, room,
    struct.calcsize("!3sI"), list(struct.iter_unpack("<H", b"\\1\\0\\2\\0")), said,
    struct.unpack_from(">H", room, 2), struct.pack("e", 0.5),
)
""",
    "tomllib": """
import io, tomllib
text = 'a = 1\\n[b]\\nc = [1.5, "x"]\\nd = 2024-02-03T04:05:06Z\\n'
try:
    tomllib.loads("a =")
except tomllib.TOMLDecodeError as error:
    said = type(error).__name__
(tomllib.loads(text), tomllib.load(io.BytesIO(text.encode())), said, tomllib.loads("x = 1.10",
parse_float=str))
""",
    "unicodedata": """
import unicodedata as u
(
    u.name("é"), u.lookup("SNOWMAN"), u.category("a"), u.normalize("NFD", "é"),
    u.combining("\\u0301"),
    u.decimal("5"), u.digit("²"), u.numeric("½"), u.bidirectional("א"), u.east_asian_width("漢"),
    u.mirrored("("), u.decomposition("é"), u.is_normalized("NFC", "é"), u.unidata_version,
    u.ucd_3_2_0.unidata_version, "".join(c for c in u.normalize("NFKD",
    "Crème") if not u.combining(c)),
)
""",
    "urllib.parse": """
import urllib.parse as p
from urllib.parse import urlsplit
r = p.urlparse("https://u:p@host:8080/a/b;x?q=1&q=2#f")
(
    tuple(r), r.hostname, r.port, r.username, r.geturl(), p.parse_qs(r.query),
    r._replace(path="/c").geturl(),
    p.parse_qsl("a=1&b="), p.urlencode({"a": [1, 2], "b": "ä ö"}, doseq=True), p.quote("a/b c",
    safe=""),
    p.unquote("a%20b%C3%A4"), p.quote_plus("a b&"), p.unquote_plus("a+b"), p.urljoin("http://a/b/c",
    "../d"),
    p.urldefrag("a#b").fragment, p.urlunsplit(urlsplit("//a/b")), p.unquote_to_bytes("%ff"),
    p.urlparse(b"http://a/").netloc, p.urlunparse(("http", "a", "b", "", "c=d", "")),
)
""",
    "xml.etree.ElementTree": """
import xml.etree.ElementTree as ET
from xml.etree import ElementTree
import xml.etree
root = ET.fromstring('<r a="1"><i n="x">t1</i><i n="y">t2<j/></i>&amp;</r>')
ET.SubElement(root, "k", {"z": "<"}).text = "ü"
ET.indent(root)
try:
    ET.fromstring("<a>")
except ET.ParseError as error:
    said = (error.position, error.code)
(
    [e.tag for e in root.iter()], root.find("i[@n='y']").text, [e.get("n")
    for e in root.findall(".//i")],
    ET.tostring(root, encoding="unicode"), ET.tostring(root), root.attrib, said, ET.iselement(root),
    root.findtext("k"), ElementTree.Comment("c").text, xml.etree.ElementTree.XML("<a/>").tag,
    len(root),
)
""",
}


@pytest.mark.parametrize("modules", PROGRAMS)
def test_a_module_does_in_a_jail_what_it_does_outside(
    same_as_cpython: Callable[[str], None], modules: str
) -> None:
    """A program that uses a module's public functions has the value that CPython gives it."""
    same_as_cpython(PROGRAMS[modules])
