# kind=dos; source: endless iteration that never comes back to Python
import collections, itertools
collections.deque(itertools.product(range(1000), repeat=8), maxlen=0)
