"""Patterns of paths, as the command line of a simulator has them."""

import re
from functools import lru_cache


@lru_cache(maxsize=4096)
def compiled(path: str) -> re.Pattern:
    """The regular expression of a pattern; its groups are what the stars match: `*` within one name, `[*]` an index,
    `**` any number of levels."""
    parts = []
    for token in re.findall(r"\*\*|\[\*\]|\*|[^*\[]+|\[", path):
        parts.append({"**": "(.*?)", "[*]": r"\[(\d+)\]", "*": r"([^.\[\]]+)"}.get(token, re.escape(token)))
    return re.compile("".join(parts).replace(r"(.*?)\.", r"((?:.*\.)?)"))
