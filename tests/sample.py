"""Samples of long tables of cases: what `make test` tries of them; `make soak` tries the rest."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable, every: int = 2, first: int = 0) -> list[Any]:
    """The cases as parameters of a test, of which every so many, from the `first` on, belong to `make test`.

    A case is the values of one parameter or a tuple of those of several, or a pytest.param of either.
    """
    parameters = []
    for number, case in enumerate(cases):
        if not isinstance(case, type(pytest.param())):
            case = pytest.param(*(case if isinstance(case, tuple) else (case,)))
        marks = case.marks if number % every == first else [*case.marks, pytest.mark.soak]
        parameters.append(pytest.param(*case.values, marks=marks, id=case.id))
    return parameters


# A case that takes a machine of its own, next to others of the same module that find most of what it would: `make soak` tries it.
seldom = pytest.mark.soak
