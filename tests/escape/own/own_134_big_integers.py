# kind=dos; source: products, powers and texts of huge integers
import math, sys
sys.set_int_max_str_digits(0)
x = math.factorial(10**6)
y = int("9" * 10**7)
pow(x, y, y - 2)
