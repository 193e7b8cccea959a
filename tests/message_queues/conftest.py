"""The functional model of the chip, which the tests of its other firmware use as well."""

from tests.firmware.conftest import chip_model

__all__ = ["chip_model"]
