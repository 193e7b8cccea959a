"""The server with sanitizers is the compiler that the tests of the language build."""

from tests.lang.conftest import sanitized_lss

__all__ = ["sanitized_lss"]
