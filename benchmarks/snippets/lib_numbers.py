math, cmath, decimal, fractions, statistics, random, numbers.

# === math_functions
import math
print(math.sqrt(2), math.floor(-2.5), math.ceil(2.1), math.trunc(-2.7), math.factorial(10), math.gcd(48, 36, 60), math.lcm(4, 6), math.isqrt(99))
print(math.pi, math.e, math.tau, math.inf, math.isnan(math.nan), math.isinf(-math.inf), math.isfinite(1), math.copysign(3, -0.0))
print(math.hypot(3, 4), math.dist((0, 0), (3, 4)), math.degrees(math.pi), math.radians(180), round(math.sin(math.pi / 6), 10), math.atan2(1, 1))
print(math.log(8, 2), math.log2(1024), math.log10(1000), math.log1p(0), math.exp(0), math.pow(2, 0.5), math.cbrt(27))
print(math.comb(5, 2), math.perm(5, 2), math.prod([1, 2, 3, 4]), math.fsum([0.1] * 10), math.fmod(-7, 3), math.modf(3.25), math.frexp(8), math.ldexp(0.5, 4))
print(math.isclose(0.1 + 0.2, 0.3), math.remainder(7, 4), math.gamma(5), math.erf(0), math.nextafter(1, 2) > 1, math.ulp(1.0))
try:
    math.sqrt(-1)
except ValueError as error:
    print(error)

# === math_module_itself
import math
from math import pi as PI, sqrt as root
print(PI == math.pi, root(16), math.__name__, math.sqrt is root)

# === cmath_and_complex
import cmath
z = complex(3, 4)
print(abs(z), z.conjugate(), z * 1j, cmath.sqrt(-1), cmath.phase(1j), cmath.polar(1 + 0j), z ** 2, (1 + 2j) / (1 - 1j))
print(cmath.exp(1j * cmath.pi).real, cmath.isclose(cmath.rect(1, 0), 1), z == 3 + 4j, complex("1-2j"), -z, bool(0j))
def quadratic(a, b, c):
    d = cmath.sqrt(b * b - 4 * a * c)
    return (-b + d) / (2 * a), (-b - d) / (2 * a)
print(quadratic(1, 2, 5), quadratic(1, -3, 2))

# === decimal_basics
from decimal import Decimal, getcontext, localcontext, ROUND_HALF_UP, ROUND_DOWN, InvalidOperation, DivisionByZero
print(Decimal("0.1") + Decimal("0.2"), Decimal(1) / Decimal(3), Decimal("1.10") * 3, Decimal(0.1))
print(Decimal("2.675").quantize(Decimal("0.01"), rounding=ROUND_HALF_UP), Decimal("7.999").quantize(Decimal("1"), ROUND_DOWN), Decimal("1E+3"), Decimal("100").normalize())
with localcontext() as ctx:
    ctx.prec = 6
    print(Decimal(2).sqrt(), Decimal(1) / 7)
getcontext().prec = 10
print(Decimal(1) / 7, Decimal("3.14").as_tuple(), Decimal("-5").copy_abs(), Decimal("1.5") < 2, Decimal("NaN").is_nan(), max(Decimal("1"), Decimal("2")))
for bad in (lambda: Decimal("abc"), lambda: Decimal(1) / 0):
    try:
        bad()
    except (InvalidOperation, DivisionByZero) as error:
        print(type(error).__name__)
print(f"{Decimal('1234567.891'):,.2f}", sum([Decimal("0.1")] * 3), round(Decimal("2.5")), int(Decimal("9.9")), repr(Decimal("1.0")))

# === money_with_decimals
from decimal import Decimal, ROUND_HALF_EVEN
CENT = Decimal("0.01")
def split(total, people):
    share = (total / people).quantize(CENT, ROUND_HALF_EVEN)
    shares = [share] * people
    shares[-1] += total - sum(shares)
    return shares
print(split(Decimal("100.00"), 3), sum(split(Decimal("100.00"), 7)))

# === fractions
from fractions import Fraction as F
print(F(1, 3) + F(1, 6), F("0.75"), F(0.5), F(6, -4), F(7, 2).numerator, float(F(1, 8)), F(3, 2) ** 2, F(10, 4) // 1, F(22, 7) > 3)
print(F("1/3").limit_denominator(10), F(3.14159).limit_denominator(100), sum([F(1, n) for n in range(1, 6)]), abs(F(-1, 2)), round(F(7, 3)), divmod(F(7, 2), 1), repr(F(1, 2)))
try:
    F(1, 0)
except ZeroDivisionError as error:
    print(error)

# === statistics
import statistics as st
data = [2, 4, 4, 4, 5, 5, 7, 9]
print(st.mean(data), st.median(data), st.mode(data), st.pstdev(data), round(st.stdev(data), 6), st.pvariance(data), st.variance([1, 2, 3]))
print(st.median_low(data), st.median_high([1, 2, 3, 4]), st.multimode("aabbc"), st.quantiles(data, n=4), st.fmean([1, 2]), round(st.geometric_mean([1, 10, 100]), 6), st.harmonic_mean([40, 60]))
print(round(st.correlation([1, 2, 3], [2, 4, 7]), 4), st.linear_regression([1, 2, 3], [3, 5, 7]), st.NormalDist(100, 15).cdf(100), st.median_grouped([1, 2, 2, 3]))
try:
    st.mean([])
except st.StatisticsError as error:
    print(error)

# === random_with_seed
import random
random.seed(42)
print(random.random(), random.randint(1, 6), random.choice("abc"), random.uniform(1, 2), random.randrange(0, 100, 5))
deck = list(range(10))
random.shuffle(deck)
print(deck, random.sample(range(100), 3), random.choices("ab", weights=[9, 1], k=5), round(random.gauss(0, 1), 6))
r = random.Random(7)
state = r.getstate()
a = r.random()
r.setstate(state)
print(a == r.random(), r.getrandbits(8), r.betavariate(1, 2) < 1, random.Random("text").random())

# === monte_carlo
import random
rng = random.Random(0)
inside = sum(rng.random() ** 2 + rng.random() ** 2 <= 1 for _ in range(20_000))
print(round(4 * inside / 20_000, 4))
rolls = [rng.randint(1, 6) + rng.randint(1, 6) for _ in range(1000)]
for total in range(2, 13):
    print(f"{total:2} {'#' * (rolls.count(total) // 10)}")

# === numbers_abc
from numbers import Number, Integral, Real, Rational, Complex
from fractions import Fraction
from decimal import Decimal
for v in (1, 1.5, 1j, Fraction(1, 2), True, Decimal(1), "1"):
    print(type(v).__name__, [k.__name__ for k in (Number, Complex, Real, Rational, Integral) if isinstance(v, k)])

# === number_theory
def sieve(n):
    flags = [True] * (n + 1)
    flags[0:2] = [False, False]
    for i in range(2, int(n ** 0.5) + 1):
        if flags[i]:
            flags[i * i::i] = [False] * len(flags[i * i::i])
    return [i for i, f in enumerate(flags) if f]
def factor(n):
    out, d = {}, 2
    while d * d <= n:
        while n % d == 0:
            out[d] = out.get(d, 0) + 1
            n //= d
        d += 1
    if n > 1: out[n] = 1
    return out
def egcd(a, b):
    return (a, 1, 0) if b == 0 else (lambda g, x, y: (g, y, x - a // b * y))(*egcd(b, a % b))
print(sieve(50), factor(360), factor(9973), egcd(240, 46), pow(3, -1, 7))
def is_prime(n, bases=(2, 3, 5, 7, 11, 13)):
    if n < 2 or any(n % b == 0 and n != b for b in bases): return False
    d, s = n - 1, 0
    while d % 2 == 0: d, s = d // 2, s + 1
    for a in bases:
        if a % n == 0: continue
        x = pow(a, d, n)
        if x in (1, n - 1): continue
        for _ in range(s - 1):
            x = x * x % n
            if x == n - 1: break
        else:
            return False
    return True
print([n for n in range(90, 120) if is_prime(n)], is_prime(2 ** 61 - 1))

# === roman_and_bases
def to_roman(n):
    out = ""
    for value, letters in zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1), "M CM D CD C XC L XL X IX V IV I".split()):
        out += letters * (n // value)
        n %= value
    return out
def from_roman(s):
    values = dict(I=1, V=5, X=10, L=50, C=100, D=500, M=1000)
    return sum(-values[a] if b and values[a] < values[b] else values[a] for a, b in zip(s, list(s[1:]) + [None]))
def to_base(n, b):
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    return digits[n] if n < b else to_base(n // b, b) + digits[n % b]
print([to_roman(n) for n in (1994, 2024, 49)], from_roman("MCMXCIV"), to_base(255, 2), to_base(123456, 36), int(to_base(123456, 36), 36))

# === numeric_methods
import math
def newton(f, df, x, tol=1e-12):
    for i in range(100):
        step = f(x) / df(x)
        x -= step
        if abs(step) < tol:
            return x, i
def simpson(f, a, b, n=100):
    h = (b - a) / n
    return h / 3 * (f(a) + f(b) + sum((4 if i % 2 else 2) * f(a + i * h) for i in range(1, n)))
def bisect(f, lo, hi):
    while hi - lo > 1e-9:
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if f(lo) * f(mid) > 0 else (lo, mid)
    return lo
print(newton(lambda x: x * x - 2, lambda x: 2 * x, 1.0)[0], round(simpson(math.sin, 0, math.pi), 8), round(bisect(lambda x: x ** 3 - x - 2, 1, 2), 6))

# === float_formatting_edge
for v in (1e100, 1.0, 1e-7, 123456789012345680.0, 0.1 + 0.7, -0.0, 5e-324, 1.7976931348623157e308):
    print(repr(v), f"{v:.3g}", f"{v:e}", str(v), round(v, 2) if abs(v) < 1e10 else "-")
print(float("1_000.5"), int("1_000"), 1e308 * 10, -1e308 * 10, 3.0 == 3, 10 ** -2, 7 // -2.0, -7 % 3.0)
