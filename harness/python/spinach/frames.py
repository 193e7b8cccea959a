"""Tables of pandas, which is imported when the first one is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame


def frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], index: Sequence[str] = ()) -> DataFrame:
    """A table with these columns, in this order; `index` names those that are its index."""
    try:
        import pandas
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        text = "tables need pandas, which this Python does not have: pip install 'spinach-sim[notebook]'"
        raise ModuleNotFoundError(text, name="pandas") from None
    made = pandas.DataFrame(list(rows), columns=list(columns))
    return made.set_index(list(index) if len(index) > 1 else index[0]) if index else made
