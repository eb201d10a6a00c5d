# kind=dos; source: decimals and fractions of a few characters that become huge integers
from decimal import Decimal, getcontext, MAX_PREC
from fractions import Fraction
for way in (
    lambda: int(Decimal("1E+99999999")), lambda: Fraction("1e99999999"), lambda: Decimal(10) ** 99999999,
    lambda: Fraction(Decimal("1E+99999999")), lambda: hash(Decimal("1E+999999999999999999")), lambda: f"{Decimal('1E+999999999'):f}",
):
    try:
        way()
    except (MemoryError, ArithmeticError, ValueError):
        pass
getcontext().prec = MAX_PREC
Decimal(1) / 3
