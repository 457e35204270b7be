# SPDX-License-Identifier: GPL-2.0-only
"""The grammar of quantities: exact, with units, and helpful where it refuses."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.errors import ConfigError
from astra_py.units import (
    INT64_MAX,
    RATE,
    SIZE,
    TIME,
    Quantity,
    format_rate,
    format_size,
    format_time,
    parse_rate,
    parse_size,
    parse_time,
)

QUANTITIES = st.sampled_from([SIZE, RATE, TIME])


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("0B", 0),
        ("4096B", 4096),
        ("64MiB", 64 * 2**20),
        ("64MB", 64_000_000),
        ("1.5KiB", 1536),
        ("0.5 kB", 500),
        ("1e3kB", 10**6),
        ("92.4MB", 92_400_000),
        ("4GiB", 2**32),
        (" 2TiB ", 2**41),
        ("9223372036854775807B", INT64_MAX),
    ],
)
def test_sizes(text: str, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize(
    ("text", "rate_bps"),
    [
        ("400Gbps", 400 * 10**9),
        ("400Gb/s", 400 * 10**9),
        ("12.5GB/s", 100 * 10**9),
        ("1600GB/s", 12_800 * 10**9),
        ("1GiB/s", 8 * 2**30),
        ("0.5B/s", 4),
        ("25 Gbps", 25 * 10**9),
        ("0bps", 0),
    ],
)
def test_rates(text: str, rate_bps: int) -> None:
    assert parse_rate(text) == rate_bps


@pytest.mark.parametrize(
    ("text", "time_ps"),
    [("1ps", 1), ("0.3ns", 300), ("5us", 5 * 10**6), ("51.678us", 51_678_000), ("10ms", 10**10), ("10s", 10**13)],
)
def test_times(text: str, time_ps: int) -> None:
    assert parse_time(text) == time_ps


@pytest.mark.parametrize(
    ("quantity", "text", "says"),
    [
        (SIZE, "0.3B", "not a whole number of bytes"),
        (TIME, "0.5ps", "not a whole number of picoseconds"),
        (RATE, "0.1bps", "not a whole number of bits per second"),
        (SIZE, "5", "has no unit"),
        (SIZE, "0", "has no unit"),
        (TIME, "1e3", "has no unit"),
        (SIZE, "-3B", "is negative"),
        (TIME, "-1us", "is negative"),
        (SIZE, "", "write a number and a unit"),
        (SIZE, "MiB", "write a number and a unit"),
        (SIZE, "5.B", "write a number and a unit"),
        (SIZE, "1_000B", "write a number and a unit"),
        (SIZE, "1" * 5000 + "B", "write a number and a unit"),
        (SIZE, "9223372036854775808B", "too large"),
        (SIZE, "1e99TB", "too large"),
        (SIZE, "64Mb", "counts bits, and a size is in bytes; did you mean '64MB'?"),
        (SIZE, "10Gbit", "did you mean '10GB'?"),
        (SIZE, "64mib", "did you mean '64MiB'?"),
        (SIZE, "100GB/s", "'GB/s' is a unit of rate; did you mean '100GB'?"),
        (RATE, "400gbps", "did you mean '400Gbps'?"),
        (RATE, "400gb/s", "did you mean '400Gb/s' or '400GB/s'?"),
        (RATE, "12GB", "'GB' is a unit of size; did you mean '12GB/s'?"),
        (RATE, "100Gb", "did you mean 'Gbps'?"),
        (RATE, "5us", "'us' is a unit of time"),
        (TIME, "5sec", "did you mean '5s'?"),
        (TIME, "5µs", "did you mean '5us'?"),
        (TIME, "5xyzzy", "units of time: ps ns us ms s"),
    ],
)
def test_refusals_say_what_is_wrong(quantity: Quantity, text: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        quantity.parse(text)
    assert says in str(caught.value)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("value", [64, 64.0, None, True, b"64B"])
def test_only_text_carries_a_unit(value: object) -> None:
    with pytest.raises(ConfigError, match="with a unit"):
        parse_size(value)  # type: ignore[arg-type]


@given(QUANTITIES, st.integers(0, INT64_MAX))
def test_format_round_trips(quantity: Quantity, value: int) -> None:
    assert quantity.parse(quantity.format(value)) == value


@given(QUANTITIES, st.integers(0, 999), st.data())
def test_format_is_short(quantity: Quantity, count: int, data: st.DataObject) -> None:
    unit = data.draw(st.sampled_from(quantity.printed))
    text = f"{count}{unit}"
    if (value := count * quantity.units[unit]) <= INT64_MAX:
        assert len(quantity.format(value)) <= len(text)


@given(QUANTITIES, st.decimals(0, 10**6, places=5), st.data())
def test_parse_is_exact_or_refused(quantity: Quantity, number: object, data: st.DataObject) -> None:
    unit = data.draw(st.sampled_from(sorted(quantity.units)))
    exact = Fraction(str(number)) * quantity.units[unit]
    text = f"{number:f}{unit}"
    if exact.denominator == 1 and exact <= INT64_MAX:
        assert quantity.parse(text) == exact
    else:
        with pytest.raises(ConfigError, match=r"not a whole number|too large"):
            quantity.parse(text)


@given(QUANTITIES, st.text(max_size=12))
def test_any_text_is_read_or_refused(quantity: Quantity, text: str) -> None:
    try:
        value = quantity.parse(text)
    except ConfigError:
        return
    assert 0 <= value <= INT64_MAX


def test_formats_read_well() -> None:
    assert [format_size(v) for v in (0, 1448, 4096, 64 * 2**20, 102_000, 1500)] == [
        "0B",
        "1448B",
        "4KiB",
        "64MiB",
        "102kB",
        "1.5kB",
    ]
    assert [format_rate(v) for v in (100 * 10**9, 12_500 * 10**6, 12_800 * 10**9)] == [
        "100Gbps",
        "12.5Gbps",
        "12.8Tbps",
    ]
    assert [format_time(v) for v in (500_000, 1_500_000, 51_678_000)] == ["500ns", "1.5us", "51678ns"]


@pytest.mark.parametrize("value", [-1, INT64_MAX + 1])
def test_format_refuses_what_does_not_fit(value: int) -> None:
    with pytest.raises(ConfigError, match="is not a size"):
        format_size(value)
