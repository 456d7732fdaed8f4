"""Steps from one plan to another."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace.whatif.patch import applied, difference

NAMES = st.sampled_from(["web", "orders", "backup", "copy"])
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from(["a", "b"]))
NAMED = st.lists(NAMES, unique=True, max_size=4).flatmap(
    lambda names: st.tuples(
        *(st.fixed_dictionaries({"name": st.just(name), "value": SCALARS}) for name in names)
    ).map(list)
)
VALUES = st.recursive(
    st.one_of(SCALARS, NAMED),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["x", "y", "z"]), inner, max_size=3),
    ),
    max_leaves=12,
)


def sorted_repr(value: Any) -> str:
    """Equal for equal values, with `True` told from `1`."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{sorted_repr(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(sorted_repr, value)) + "]"
    return repr(value)


@given(before=VALUES, after=VALUES)
def test_the_steps_make_the_other_plan(before: Any, after: Any) -> None:
    kept = sorted_repr(before)
    assert sorted_repr(applied(before, difference(before, after))) == sorted_repr(after)
    assert sorted_repr(before) == kept, "the first plan stays as it is"


@given(value=VALUES)
def test_equal_plans_need_no_step(value: Any) -> None:
    assert difference(value, value) == []


def test_workloads_keep_their_places_by_name() -> None:
    before = {"workloads": [{"header": {"name": name}, "users": 1} for name in ("a", "b", "c")]}
    fewer = {"workloads": [before["workloads"][0], before["workloads"][2]]}
    more_users = {"workloads": [*before["workloads"][:2], {"header": {"name": "c"}, "users": 9}]}
    both = applied(before, [*difference(before, fewer), *difference(before, more_users)])
    assert both == {"workloads": [before["workloads"][0], {"header": {"name": "c"}, "users": 9}]}


def test_a_step_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(LookupError, match="b"):
        applied({"workloads": [{"name": "a"}]}, [["set", ["workloads", {"name": "b"}, "users"], 3]])
