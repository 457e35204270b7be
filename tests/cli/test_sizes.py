# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import pytest

from astra_py.cli.sizes import parse_sizes
from astra_py.errors import ConfigError

KIB, MIB = 2**10, 2**20


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("16MiB", [16 * MIB]),
        ("16MiB,100MB", [16 * MIB, 100_000_000]),
        ("1MiB:8MiB:2", [MIB, 2 * MIB, 4 * MIB, 8 * MIB]),
        ("1KiB:100KiB:10", [KIB, 10 * KIB, 100 * KIB]),
        ("1KiB:99KiB:10", [KIB, 10 * KIB]),
        ("4B:4B:2", [4]),
        ("1B, 2KiB:4KiB:2", [1, 2 * KIB, 4 * KIB]),
        ("0B", [0]),
        ("1024TiB", [2**50]),
    ],
)
def test_sizes(text: str, sizes: list[int]) -> None:
    assert parse_sizes(text) == sizes


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("16", "has no unit"),
        ("16MiB,", "'' is not a size"),
        ("1MiB:2MiB", "has 2 parts"),
        ("1MiB:2MiB:2:2", "has 4 parts"),
        ("1MiB:2MiB:1", "no whole number above 1"),
        ("1MiB:2MiB:1.5", "no whole number above 1"),
        ("2MiB:1MiB:2", "does not run from"),
        ("0B:1MiB:2", "does not run from"),
        ("1125899906842625B", "is above 1024TiB"),
        ("1MiB:8000000TiB:2", "'8000000TiB' is above 1024TiB"),
        ("1M", "'1MB' .* or '1MiB' .* what nccl-tests means by M"),
        ("8K:1M:2", "'8kB' .* or '8KiB'"),
        ("1Gb", "counts bits"),
    ],
)
def test_what_is_no_size_is_refused_with_what_is_allowed(text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as caught:
        parse_sizes(text)
    assert str(caught.value).startswith(f"--sizes {text!r}: ")
    assert "FROM:TO:FACTOR" in str(caught.value)
