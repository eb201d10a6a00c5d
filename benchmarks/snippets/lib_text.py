re, json, csv, io, html, urllib.parse, difflib, ast, base64, hashlib, struct and their like.

# === re_search_and_match
import re
m = re.search(r"(\d{4})-(\d\d)-(\d\d)", "on 2024-02-29 at noon")
print(m.group(), m.groups(), m.span(), m.start(2), m.end(), m[1], m.string[:2], m.lastindex)
m = re.match(r"(?P<user>\w+)@(?P<host>[\w.]+)", "ann@example.org!")
print(m.groupdict(), m["user"], m.group("host", "user"), re.match("x", "ax"), re.fullmatch(r"\d+", "123a"), bool(re.fullmatch(r"\d+", "123")))
print(m, m.expand(r"\g<host>:\1"))

# === re_findall_and_split
import re
text = "Call 555-1234 or 555-9876, ext. 12"
print(re.findall(r"\d+", text), re.findall(r"(\d{3})-(\d{4})", text), [m.span() for m in re.finditer(r"\d{4}", text)])
print(re.split(r"[,;\s]+", "a, b;c  d"), re.split(r"(-)", "1-2-3"), re.split(r"\d", "a1b2c", maxsplit=1), re.escape("a.b*c?"))

# === re_sub
import re
print(re.sub(r"\s+", " ", "a   b \n c"), re.sub(r"(\w+) (\w+)", r"\2 \1", "hello world"), re.subn("a", "b", "banana", count=2))
print(re.sub(r"\d+", lambda m: str(int(m.group()) * 2), "3 cats and 10 dogs"), re.sub(r"(?P<x>a)", r"[\g<x>]", "banana"))
def snake(name): return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
def camel(name): return re.sub(r"_(\w)", lambda m: m[1].upper(), name)
print(snake("someHTTPName"), snake("CamelCase"), camel("snake_case_name"))

# === re_flags_and_compiled
import re
p = re.compile(r"""
    (?P<sign>[+-])?   # sign
    (?P<int>\d+)      # digits
    (?:\.(?P<frac>\d+))?
""", re.VERBOSE)
print([p.fullmatch(s).groupdict() for s in ("-3.14", "42")], p.pattern.count("\n"), p.groups, dict(p.groupindex), p.flags & re.X)
print(re.findall(r"^\w+", "one\ntwo", re.M), re.search("HELLO", "say hello", re.I).group(), re.findall(r"a.b", "a\nb", re.S), re.IGNORECASE | re.MULTILINE)
print(re.compile("ab").sub("x", "abab"), re.compile(r"\b\w{3}\b").findall("the quick fox ran"), p.search("x 5 y", 3))

# === re_groups_and_lookaround
import re
print(re.findall(r"(?<=\$)\d+", "$5 and $17"), re.findall(r"\w+(?=!)", "hey! you there!"), re.findall(r"(\w)\1", "aabbcd"), re.search(r"(?i:A)b", "ab").group())
print(re.findall(r"<(\w+)>(.*?)</\1>", "<b>bold</b><i>it</i>"), re.match(r"(a)|(b)", "b").groups(), re.findall(r"(?:ab)+", "ababxab"), re.sub(r"(?<=\d)(?=(\d{3})+$)", ",", "1234567"))
for bad in ("(", "[z-a]", "*a"):
    try:
        re.compile(bad)
    except re.error as error:
        print(error.msg, error.pos)

# === tokenizer
import re
from typing import NamedTuple
class Token(NamedTuple):
    kind: str
    value: str
spec = [("NUM", r"\d+(\.\d*)?"), ("ID", r"[A-Za-z_]\w*"), ("OP", r"[+\-*/=()]"), ("SKIP", r"\s+"), ("BAD", r".")]
pattern = re.compile("|".join(f"(?P<{k}>{v})" for k, v in spec))
def tokens(code):
    for m in pattern.finditer(code):
        if m.lastgroup == "BAD":
            raise SyntaxError(f"unexpected {m.group()!r} at {m.start()}")
        if m.lastgroup != "SKIP":
            yield Token(m.lastgroup, m.group())
print(list(tokens("x = 3.5 * (y + 2)")))
list(tokens("a $ b"))

# === log_parsing
import re
from collections import Counter, defaultdict
log = """10.0.0.1 - [10/Oct/2023:13:55:36] "GET /index.html" 200 2326
10.0.0.2 - [10/Oct/2023:13:56:01] "POST /login" 401 12
10.0.0.1 - [10/Oct/2023:13:57:12] "GET /img/a.png" 200 9000
bad line
10.0.0.3 - [10/Oct/2023:14:00:00] "GET /index.html" 500 0"""
line_re = re.compile(r'(?P<ip>[\d.]+) - \[(?P<when>[^\]]+)\] "(?P<verb>\w+) (?P<path>\S+)" (?P<status>\d{3}) (?P<size>\d+)')
by_ip, status = defaultdict(int), Counter()
for number, line in enumerate(log.splitlines(), 1):
    if not (m := line_re.match(line)):
        print(f"line {number} skipped: {line!r}")
        continue
    by_ip[m["ip"]] += int(m["size"])
    status[m["status"][0] + "xx"] += 1
print(dict(by_ip), status.most_common(), max(by_ip, key=by_ip.get))

# === json_round_trip
import json
data = {"name": "Zoë", "n": [1, 2.5, None, True], "nested": {"a": {}}, "e": [], "t": (1, 2)}
text = json.dumps(data)
print(text, json.loads(text)["n"], json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":")))
print(json.dumps(data, indent=2))
print(json.dumps({1: "a", True: "b", None: "c", 2.5: "d"}), json.loads("[1e3, -0, \"\\u00e9\\n\"]"), json.dumps("é\u2028\"\\/"), json.dumps(float("inf")))

# === json_errors
import json
for bad in ('{"a": }', "[1, 2", "{'a': 1}", "", "nul"):
    try:
        json.loads(bad)
    except json.JSONDecodeError as error:
        print(error.msg, error.lineno, error.colno, error.pos)
try:
    json.dumps({"s": {1, 2}})
except TypeError as error:
    print(error)

# === json_custom
import json
from datetime import date
from decimal import Decimal
class Encoder(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, date): return o.isoformat()
        if isinstance(o, set): return sorted(o)
        return super().default(o)
print(json.dumps({"d": date(2024, 1, 2), "s": {3, 1}}, cls=Encoder), json.dumps([Decimal("1.5")], default=str))
print(json.loads('{"x": 1, "y": {"z": 2}}', object_hook=lambda d: sorted(d.items())), json.loads("[1.10]", parse_float=Decimal), json.loads('{"a":1,"a":2}', object_pairs_hook=list))
import io
buffer = io.StringIO()
json.dump([1, {"a": 2}], buffer)
buffer.seek(0)
print(json.load(buffer))

# === csv_reading_and_writing
import csv, io
text = 'name,age,city\n"Smith, J",42,"New ""York"""\nAnn,30,\n'
rows = list(csv.reader(io.StringIO(text)))
print(rows)
for row in csv.DictReader(io.StringIO(text)):
    print(row["name"], int(row["age"]), repr(row["city"]))
out = io.StringIO()
w = csv.writer(out, lineterminator="\n")
w.writerow(["a", "b,c", 'd"e', None, 1.5])
w.writerows([[1, 2], ["x\ny", ""]])
print(out.getvalue())
out = io.StringIO()
dw = csv.DictWriter(out, fieldnames=["id", "v"], extrasaction="ignore", delimiter=";", quoting=csv.QUOTE_ALL)
dw.writeheader()
dw.writerow({"id": 1, "v": "x", "more": 0})
print(repr(out.getvalue()), list(csv.reader(["a|b|c"], delimiter="|")), list(csv.reader("1 2\n3 4".splitlines(), delimiter=" ", quoting=csv.QUOTE_NONNUMERIC)))

# === csv_report
import csv, io, statistics
data = """dept,name,salary
eng,Ann,100
eng,Bob,120
ops,Cid,80
ops,Dee,95
hr,Eve,70
"""
by_dept = {}
for row in csv.DictReader(io.StringIO(data)):
    by_dept.setdefault(row["dept"], []).append(float(row["salary"]))
for dept, pay in sorted(by_dept.items(), key=lambda kv: -statistics.mean(kv[1])):
    print(f"{dept:<4}{len(pay):>3}{statistics.mean(pay):>9.2f}{max(pay):>8.0f}")

# === io_in_memory
import io
s = io.StringIO("line one\nline two\nlast")
print(s.readline(), s.read(4), s.tell(), s.readlines(), s.read() == "")
s.seek(0)
print([line.rstrip() for line in s], s.getvalue()[:4])
b = io.BytesIO()
b.write(b"abc"); b.write(bytes([0, 255])); b.seek(1)
print(b.read(2), b.getvalue(), len(b.getbuffer()))
with io.StringIO() as out:
    out.write("x\n"); out.writelines(["y\n", "z"])
    print(repr(out.getvalue()))
print(out.closed)
t = io.TextIOWrapper(io.BytesIO("é\n".encode()), encoding="utf-8")
print(repr(t.read()))

# === html_module
import html
print(html.escape('<a href="x">Tom & \'Jerry\'</a>'), html.escape("<'>", quote=False), html.unescape("&lt;b&gt; &amp; &eacute; &#8364; &#x41;"))

# === urllib_parse
from urllib.parse import urlparse, urlunparse, parse_qs, parse_qsl, urlencode, quote, unquote, urljoin, urlsplit, quote_plus, unquote_plus
u = urlparse("https://user:pw@example.org:8080/path/page;p?q=1&q=2&r=a%20b#frag")
print(u.scheme, u.netloc, u.hostname, u.port, u.path, u.params, u.query, u.fragment, u.username)
print(u, urlunparse(u._replace(fragment="")), parse_qs(u.query), parse_qsl("a=1&b=&c", keep_blank_values=True))
print(urlencode({"q": "a b&c", "n": [1, 2]}, doseq=True), quote("a/b c?é"), quote("a/b", safe=""), unquote("%C3%A9%20x"), quote_plus("a b"), unquote_plus("a+b"))
print(urljoin("http://x.org/a/b/", "../c"), urljoin("http://x.org/a", "//y.org/z"), urlsplit("mailto:me@x.org").path)
import urllib.parse
print(urllib.parse.quote("ß"))

# === difflib
import difflib
a, b = "one two three four".split(), "one too three five four".split()
print("\n".join(difflib.unified_diff(a, b, "old", "new", lineterm="")))
print("\n".join(difflib.ndiff(["abc", "x"], ["abd", "x"])))
s = difflib.SequenceMatcher(None, "private thread", "private volatile")
print(round(s.ratio(), 3), s.get_opcodes()[0], difflib.get_close_matches("appel", ["ape", "apple", "peach"], n=2), s.find_longest_match().size)
print(list(difflib.context_diff(a, b, lineterm=""))[3:5])

# === ast_module
import ast
tree = ast.parse("x = 1 + 2 * y\nprint(x)\ndef f(a, b=2): return a")
print(ast.dump(tree.body[0]), [type(n).__name__ for n in ast.walk(tree)][:8], ast.literal_eval("{'a': [1, (2, None)], 'b': -1.5}"))
print(ast.dump(ast.parse("f(x)", mode="eval"), indent=2), ast.unparse(tree))
class Names(ast.NodeVisitor):
    def __init__(self): self.names = []
    def visit_Name(self, node):
        self.names.append(node.id)
        self.generic_visit(node)
    def visit_FunctionDef(self, node):
        self.names.append("def " + node.name + str([a.arg for a in node.args.args]))
v = Names()
v.visit(tree)
print(v.names)
class Double(ast.NodeTransformer):
    def visit_Constant(self, node): return ast.copy_location(ast.Constant(node.value * 2), node)
print(ast.unparse(Double().visit(ast.parse("a + 21"))))
try:
    ast.literal_eval("f()")
except ValueError as error:
    print("malformed" in str(error))

# === safe_calculator
import ast, operator
ops = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow, ast.USub: operator.neg}
def calc(text):
    def ev(node):
        match node:
            case ast.Expression(body=body): return ev(body)
            case ast.Constant(value=int() | float() as v): return v
            case ast.BinOp(left=l, op=o, right=r): return ops[type(o)](ev(l), ev(r))
            case ast.UnaryOp(op=o, operand=x): return ops[type(o)](ev(x))
        raise ValueError(f"not allowed: {type(node).__name__}")
    return ev(ast.parse(text, mode="eval"))
print(calc("2 * (3 + 4) ** 2 / -7"))
try:
    calc("f(1)")
except ValueError as error:
    print(error)

# === hashlib_and_hmac_by_hand
import hashlib
print(hashlib.sha256(b"hello").hexdigest(), hashlib.md5("é".encode()).hexdigest(), hashlib.sha1(b"").hexdigest())
h = hashlib.sha512()
h.update(b"a"); h.update(b"b")
print(h.hexdigest()[:32], h.digest_size, h.name, h.copy().digest() == h.digest(), hashlib.blake2b(b"x", digest_size=8).hexdigest(), hashlib.new("sha256", b"hello").hexdigest()[:8])
print(hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 10).hex()[:16], hashlib.sha3_256(b"abc").hexdigest()[:10])
def chain(values):
    prev = "0" * 64
    for v in values:
        prev = hashlib.sha256(f"{prev}{v}".encode()).hexdigest()
    return prev
print(chain(["a", "b"])[:16])

# === base64_and_binascii
import base64, binascii
e = base64.b64encode(b"hello \xff world")
print(e, base64.b64decode(e), base64.urlsafe_b64encode(b"\xfb\xff"), base64.b32encode(b"hi"), base64.b16encode(b"hi"), base64.b85encode(b"hello"), base64.b64encode("é".encode()).decode())
print(binascii.hexlify(b"\x01\xab"), binascii.unhexlify("01ab"), binascii.crc32(b"hello"), base64.standard_b64decode("aGk="))
try:
    base64.b64decode("abc")
except binascii.Error as error:
    print(error)

# === struct_module
import struct
packed = struct.pack(">IhB4s", 1000, -2, 255, b"abcd")
print(packed, struct.unpack(">IhB4s", packed), struct.calcsize("<qd"), struct.pack("<f", 1.5), struct.unpack_from("<H", b"\x00\x01\x02", 1))
point = struct.Struct("<2i")
print(point.pack(1, -1), point.size, [p for p in point.iter_unpack(point.pack(1, 2) + point.pack(3, 4))])
buf = bytearray(8)
struct.pack_into(">I", buf, 2, 0xDEADBEEF)
print(buf.hex())
try:
    struct.pack("B", 300)
except struct.error as error:
    print("struct.error")

# === zlib_module
import zlib
data = b"abc" * 100
c = zlib.compress(data, 9)
print(len(c) < len(data), zlib.decompress(c) == data, zlib.crc32(b"hello"), zlib.adler32(b"hello"))
d = zlib.decompressobj()
print(d.decompress(c[:10]) + d.decompress(c[10:]) + d.flush() == data)
try:
    zlib.decompress(b"junk")
except zlib.error as error:
    print("zlib.error", "header" in str(error))

# === uuid_and_secrets
import uuid, secrets, string
u = uuid.uuid5(uuid.NAMESPACE_DNS, "example.org")
print(u, u.hex[:8], u.version, uuid.UUID(int=5), uuid.UUID("12345678-1234-5678-1234-567812345678").int, uuid.uuid3(uuid.NAMESPACE_URL, "http://x"), len(str(uuid.uuid4())), uuid.uuid4() != uuid.uuid4())
print(len(secrets.token_hex(8)), len(secrets.token_bytes(4)), secrets.randbelow(1), secrets.choice("x"), secrets.compare_digest("a", "a"), len("".join(secrets.choice(string.ascii_letters) for _ in range(12))))

# === ipaddress_module
import ipaddress as ip
net = ip.ip_network("192.168.1.0/29")
print(net, net.num_addresses, net.netmask, net.broadcast_address, list(map(str, net.hosts()))[:2], ip.ip_address("192.168.1.5") in net)
a = ip.ip_address("10.0.0.255")
print(a + 1, a.is_private, int(a), ip.ip_address("::1").is_loopback, ip.ip_address("2001:db8::1").exploded, ip.ip_interface("10.1.2.3/8").network)
print([str(s) for s in ip.ip_network("10.0.0.0/30").subnets(new_prefix=31)], sorted(map(ip.ip_address, ["10.0.0.2", "9.9.9.9"]))[0])
try:
    ip.ip_address("300.1.1.1")
except ValueError as error:
    print(error)

# === pathlib_pure
from pathlib import PurePath, PurePosixPath, PureWindowsPath
p = PurePosixPath("/home/ann") / "docs" / "report.tar.gz"
print(p, p.name, p.stem, p.suffix, p.suffixes, p.parent, list(p.parents)[-1], p.parts, p.is_absolute(), p.with_suffix(".zip"), p.with_name("x.txt"))
print(p.relative_to("/home"), p.match("*.gz"), PurePosixPath("a//b/./c"), PurePosixPath("a") == PurePath("a"), PureWindowsPath(r"C:\x\y.txt").drive, sorted([PurePosixPath("b"), PurePosixPath("a")]), p.as_posix(), p.joinpath("..", "z"))

# === os_path_pure
import os.path
from os.path import join, basename, splitext
print(join("a", "b", "/c", "d.txt"), basename("/x/y.tar.gz"), splitext("archive.tar.gz"), os.path.dirname("/a/b/c"), os.path.split("/a/b"), os.path.normpath("a/./b/../c//d"), os.path.isabs("/x"), os.path.commonpath(["/a/b", "/a/c"]), os.path.commonprefix(["abc", "abd"]), os.path.sep, os.path.relpath("/a/b/c", "/a/d"))

# === sys_as_data
import sys
print(sys.version_info >= (3, 8), sys.version_info.major, sys.maxsize > 2**31, sys.getrecursionlimit() > 100, sys.byteorder, sys.float_info.max, sys.maxunicode, sys.version_info[:1])

# === logging_to_stream
import logging, io
buffer = io.StringIO()
logger = logging.getLogger("app.db")
logger.setLevel(logging.INFO)
handler = logging.StreamHandler(buffer)
handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
logger.addHandler(handler)
logger.debug("hidden")
logger.info("connected to %s in %d ms", "db1", 12)
logger.warning("slow")
try:
    1 / 0
except ZeroDivisionError:
    logger.error("failed: %s", "division")
print(buffer.getvalue(), logger.name, logging.getLevelName(30), logger.isEnabledFor(logging.DEBUG))

# === logging_basic_config
import logging
logging.basicConfig(level=logging.INFO, format="%(levelname)-8s %(message)s")
logging.debug("no")
logging.info("started")
log = logging.getLogger(__name__)
log.warning("value %r is odd", 3)
print("done")
logging.error("bad thing")

# === locale_free_sorting_and_unicode_names
import unicodedata
words = ["zebra", "Émile", "eagle", "Ärger", "apple"]
key = lambda s: unicodedata.normalize("NFKD", s).encode("ascii", "ignore").decode().lower()
print(sorted(words, key=key), [unicodedata.category(c) for c in "a1 !é€"], unicodedata.bidirectional("א"), unicodedata.digit("٣"), unicodedata.is_normalized("NFC", "é"))
