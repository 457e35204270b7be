# SPDX-License-Identifier: GPL-2.0-only
"""What a page's code registers goes with its test."""

import pytest


@pytest.fixture(autouse=True)
def what_a_page_registers_is_its_own(registries_kept: None) -> None:
    """Pages name algorithms, topologies and workloads of their own in the process of all tests."""
