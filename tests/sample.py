"""Samples of long tables of cases: what `make test` tries of them; `make soak` tries the rest."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable, every: int = 2, first: int = 0) -> list[Any]:
    """The cases as parameters of a test, of which every so many, from the `first` on, belong to `make test`."""
    return [pytest.param(*(c if isinstance(c, tuple) else (c,)), marks=[] if i % every == first else pytest.mark.soak) for i, c in enumerate(cases)]
