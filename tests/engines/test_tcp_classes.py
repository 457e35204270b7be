# SPDX-License-Identifier: GPL-2.0-only
"""ns-3's classes that TCP's parameters name are there, with the attributes that these become."""

from __future__ import annotations

import pytest

import astra_py._ns3_ext as native
from astra_py.config import Scenario
from astra_py.config.ns3 import mapped_attributes
from astra_py.config.tcp import TCP_RECOVERIES, TCP_VARIANTS, TcpConfig

#: Attributes of ns-3's TCP that parameters set, socket by socket.
OF_SOCKETS = [name for name, mapped in mapped_attributes(Scenario) if mapped.table is TcpConfig]


@pytest.mark.parametrize("name", [*TCP_VARIANTS.values(), *TCP_RECOVERIES.values()])
def test_ns3_has_every_variant_and_recovery(name: str) -> None:
    assert isinstance(native.attributes(name), dict)


@pytest.mark.parametrize("attribute", OF_SOCKETS)
def test_ns3_has_every_attribute_of_sockets(attribute: str) -> None:
    name, _, last = attribute.rpartition("::")
    assert last in native.attributes(name)
