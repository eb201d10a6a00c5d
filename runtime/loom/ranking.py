"""How rewards of a group compare, as pure functions of numbers.

A group is what was made of one and the same task: so the differences within it are due to what
was done, and not to how hard the task was.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections import Counter
from collections.abc import Sequence

from ..errors import LoomError


def ranks(rewards: Sequence[float]) -> list[int]:
    """The rank of each reward: 1 for the highest.

    Equal ones share a rank, and the next lower one's counts all above it: 1, 2, 2, 4.
    """
    counts = Counter(rewards)
    above: dict[float, int] = {}
    seen = 0
    for reward in sorted(counts, reverse=True):
        above[reward] = seen
        seen += counts[reward]
    return [above[reward] + 1 for reward in rewards]


def advantages(rewards: Sequence[float]) -> list[float]:
    """How many standard deviations each reward is above the group's mean, as in GRPO.

    The deviation is that of a sample (by ``n - 1``), as trainers reckon it. Where all rewards are
    equal, as in a group of one, each advantage is 0. (Shao et al. 2024, "DeepSeekMath".)
    """
    if len(set(rewards)) < 2:
        return [0.0] * len(rewards)
    # Rewards are brought near 1 first, so that no square is too large or too small for a float.
    scale = max(map(abs, rewards))
    near = [reward / scale for reward in rewards]
    mean, deviation = statistics.mean(near), statistics.stdev(near)
    return [(reward - mean) / deviation if deviation else 0.0 for reward in near]


def leave_one_out(rewards: Sequence[float]) -> list[float]:
    """How far each reward is above the mean of the others, as in RLOO; 0 for one alone.

    (Ahmadian et al. 2024, "Back to Basics".)
    """
    others = len(rewards) - 1
    if others < 1:
        return [0.0] * len(rewards)
    mean = statistics.mean(rewards)
    return [finite((reward - mean) * (len(rewards) / others)) for reward in rewards]


def finite(number: float) -> float:
    """A number, or the float that is next to it where it is past all floats."""
    return max(-sys.float_info.max, min(number, sys.float_info.max))


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that of ``k`` attempts at least one passes, estimated from ``n`` without bias.

    1 - C(n-c, k) / C(n, k): the share of all choices of ``k`` among the ``n`` attempts that have
    one of the ``c`` which passed (Chen et al. 2021, "Evaluating Large Language Models Trained on
    Code"). It is reckoned in whole numbers and divided once.

    Args:
        n: How many attempts there are.
        c: How many of them passed.
        k: How many are chosen.

    Raises:
        LoomError: There are not so many attempts, or no such numbers of them.
    """
    _check(n, c, k)
    all_choices = math.comb(n, k)
    return (all_choices - math.comb(n - c, k)) / all_choices


def pass_hat_k(n: int, c: int, k: int) -> float:
    """The chance that of ``k`` attempts all pass (pass^k), estimated from ``n`` without bias.

    C(c, k) / C(n, k) (Yao et al. 2024, "tau-bench"). The arguments are those of ``pass_at_k``.

    Raises:
        LoomError: There are not so many attempts, or no such numbers of them.
    """
    _check(n, c, k)
    return math.comb(c, k) / math.comb(n, k)


def _check(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n:
        raise LoomError(f"of {n} attempts {c} can't have passed")
    if not isinstance(k, int):
        raise LoomError(f"k must be a whole number, not {k!r}")
    if k < 1:
        raise LoomError(f"k must be 1 or more, not {k}")
    if k > n:
        raise LoomError(f"k is {k}, and there are only {n} judged attempts: take a smaller k")
