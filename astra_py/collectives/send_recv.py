# SPDX-License-Identifier: GPL-2.0-only
"""One message from the first member of a group to the second, the simplest collective."""

from __future__ import annotations

from astra_py.collectives.builder import ScheduleBuilder
from astra_py.collectives.registry import Group, collective

__all__ = ["direct"]


@collective("sendrecv", name="direct")
def direct(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
    """Send ``size_bytes`` from member 0 to member 1 as one message; a message of 0 bytes is sent too."""
    build.send(0, 1, size_bytes, blocks=0)
