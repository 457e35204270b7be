# SPDX-License-Identifier: GPL-2.0-only
"""What all tests share."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from astra_py import plugins

# A busy machine may take any time for one example, so that a deadline would find faults that are none. Examples are
# the same everywhere, so that what is green here is green there; `make full` draws new ones, and the blob that a
# failure prints brings its example back.
settings.register_profile("same", deadline=None, print_blob=True, derandomize=True)
settings.register_profile("new", deadline=None, print_blob=True)
settings.load_profile("same")


@pytest.fixture
def registries_kept() -> Iterator[None]:
    """What is registered during a test, in the process of all tests, is forgotten after it."""
    registries = [registry for group in plugins._registries.values() for registry in group]
    for registry in registries:
        registry.names()  # loads what there is, which must not be forgotten
    known = [dict(registry._known) for registry in registries]
    yield
    for registry, names in zip(registries, known, strict=True):
        registry._known = names
