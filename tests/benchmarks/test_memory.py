# SPDX-License-Identifier: GPL-2.0-only
"""Memory for a message, from two runs."""

from __future__ import annotations

import pytest

from memory import bytes_per_message


def test_what_lies_between_two_runs() -> None:
    assert bytes_per_message((100, 1_000_000), (1100, 1_400_000)) == 400


@pytest.mark.parametrize("messages", [99, 100])
def test_the_second_run_has_more_messages(messages: int) -> None:
    with pytest.raises(ValueError, match=f"runs of 100 and {messages} messages"):
        bytes_per_message((100, 1), (messages, 2))
