# SPDX-License-Identifier: GPL-2.0-only
"""What tests of the examples share."""

from collections.abc import Iterator

import pytest

from astra_py import plugins


@pytest.fixture(autouse=True)
def what_an_example_registers_is_its_own() -> Iterator[None]:
    """An example that a test imports registers its names in the process of all tests; they go with the test."""
    registries = [registry for group in plugins._registries.values() for registry in group]
    for registry in registries:
        registry.names()  # loads what there is, which must not be forgotten
    known = [dict(registry._known) for registry in registries]
    yield
    for registry, names in zip(registries, known, strict=True):
        registry._known = names
