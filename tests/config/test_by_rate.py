# SPDX-License-Identifier: GPL-2.0-only
"""Sizes that go by a port's rate: their texts and tables, and what they are at a rate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.config.by_rate import SizeByRate, SizeByRateRule

RULE = SizeByRateRule(words={"auto": None})
GBPS = 10**9

rates, sizes = st.integers(1, 10**14), st.integers(0, 2**50)
by_rate = st.one_of(
    st.builds(SizeByRate, sizes),
    st.builds(SizeByRate, sizes, rates),
    st.dictionaries(rates, sizes, min_size=1).map(lambda entries: SizeByRate(entries=tuple(sorted(entries.items())))),
)


@pytest.mark.parametrize(
    ("value", "at_10", "at_25", "text"),
    [
        ("400kB", 400_000, 400_000, "400kB"),
        ("100kB/25Gbps", 40_000, 100_000, "100kB/25Gbps"),
        ("1B / 3Gbps", 3, 8, "1B/3Gbps"),
        ("25Gbps=100kB, 100Gb/s=400kB", None, 100_000, "25Gbps=100kB,100Gbps=400kB"),
        ({"100Gbps": "400kB", "10Gbps": "1B"}, 1, None, "10Gbps=1B,100Gbps=400kB"),
    ],
)
def test_texts_and_tables(value: object, at_10: int | None, at_25: int | None, text: str) -> None:
    read = RULE.read(value)
    assert (read.at(10 * GBPS), read.at(25 * GBPS)) == (at_10, at_25)
    assert RULE.write(read) == text
    assert RULE.read(text) == read


@given(by_rate)
def test_what_is_written_reads_back(value: SizeByRate) -> None:
    assert RULE.read(RULE.write(value)) == value


def test_words() -> None:
    assert RULE.read("auto") is None
    assert RULE.write(None) == "auto"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (SizeByRate(5), "5"),
        (SizeByRate(5, 25 * GBPS), "5/25Gbps"),
        (SizeByRate(5, GBPS // 2), "5/0.5Gbps"),
        (SizeByRate(entries=((2_500_000_001, 1), (10**13, 2))), "2.500000001Gbps=1,10000Gbps=2"),
    ],
)
def test_what_ns3_reads(value: SizeByRate, text: str) -> None:
    assert RULE.to_ns3(value) == text


@pytest.mark.parametrize(
    "value",
    [5, True, None, "", "5", "kB", "100kB/", "100kB/25", "/25Gbps", "=5kB", "25Gbps=", {}, {"25Gbps": 5}, ["5kB"]],
)
def test_what_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"is not|has no"):
        RULE.read(value)
