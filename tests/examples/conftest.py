# SPDX-License-Identifier: GPL-2.0-only
"""What tests of the examples share."""

import pytest


@pytest.fixture(autouse=True)
def what_an_example_registers_is_its_own(registries_kept: None) -> None:
    """An example that a test imports registers its names in the process of all tests; they go with the test."""
