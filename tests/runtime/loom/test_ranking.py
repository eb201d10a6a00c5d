"""How rewards of a group compare."""

from __future__ import annotations

import math
import statistics
from itertools import combinations

import pytest
from circlet.runtime.errors import LoomError
from circlet.runtime.loom.ranking import advantages, leave_one_out, pass_at_k, pass_hat_k, ranks
from hypothesis import given
from hypothesis import strategies as st

REWARDS = st.lists(st.floats(-1e300, 1e300).map(lambda x: x + 0.0), max_size=12)
PLAIN = st.lists(st.integers(-3, 3).map(float), max_size=9)


@given(st.one_of(REWARDS, PLAIN))
def test_a_rank_is_one_more_than_how_many_are_higher(rewards):
    """A rank counts the higher rewards; equal ones share it."""
    assert ranks(rewards) == [1 + sum(other > one for other in rewards) for one in rewards]


def test_ranks_by_example():
    """After a tie the next rank counts all that share it."""
    assert ranks([0.5, 1.0, 0.5, 0.0]) == [2, 1, 2, 4]
    assert ranks([]) == []


@given(PLAIN)
def test_advantages_are_standard_scores(rewards):
    """An advantage is the distance from the mean in deviations of a sample."""
    found = advantages(rewards)
    if len(set(rewards)) < 2:
        assert found == [0.0] * len(rewards)
        return
    mean, deviation = statistics.mean(rewards), statistics.stdev(rewards)
    assert found == pytest.approx([(one - mean) / deviation for one in rewards])
    assert sum(found) == pytest.approx(0, abs=1e-9)


@given(REWARDS)
def test_advantages_are_finite_and_in_order(rewards):
    """Whatever the rewards, an advantage is a number, and a higher reward has no less."""
    found = advantages(rewards)
    assert all(map(math.isfinite, found))
    in_order = sorted(zip(rewards, found, strict=True))
    assert [score for _, score in in_order] == sorted(found)


@given(PLAIN)
def test_leave_one_out(rewards):
    """Each is measured by the mean of the others."""
    expected = [
        one - statistics.mean(rewards[:at] + rewards[at + 1 :]) if len(rewards) > 1 else 0.0
        for at, one in enumerate(rewards)
    ]
    assert leave_one_out(rewards) == pytest.approx(expected)


@given(st.data())
def test_passes_are_shares_of_all_choices(data):
    """Pass@k and pass^k count, over all choices of k, those with one and with only passes."""
    n = data.draw(st.integers(1, 8))
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    passed = [place < c for place in range(n)]
    choices = list(combinations(passed, k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, choices)) / len(choices))
    assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, choices)) / len(choices))


def test_large_numbers():
    """A small chance among many attempts is not rounded away."""
    assert pass_at_k(1_000_000, 1, 1) == 1e-6
    assert pass_at_k(5_000, 2_500, 2_000) == 1.0
    assert pass_hat_k(5_000, 4_999, 1) == 4_999 / 5_000


@given(REWARDS)
def test_leave_one_out_is_finite(rewards):
    """Whatever the rewards, none is past all floats."""
    assert all(map(math.isfinite, leave_one_out(rewards)))


@pytest.mark.parametrize("estimate", [pass_at_k, pass_hat_k])
@pytest.mark.parametrize(
    ("n", "c", "k", "message"),
    [
        (3, 1, 4, "k is 4, and there are only 3 judged attempts"),
        (3, 1, 0, "k must be 1 or more, not 0"),
        (3, 4, 1, "of 3 attempts 4 can't have passed"),
        (0, 0, 1, "there are only 0"),
        (3, 1, "1", "k must be a whole number, not '1'"),
        (3, 1, 1.0, "k must be a whole number, not 1.0"),
    ],
)
def test_what_can_t_be_estimated(estimate, n, c, k, message):
    """More than there are can't be chosen, and nothing is made up for it."""
    with pytest.raises(LoomError, match=message):
        estimate(n, c, k)
