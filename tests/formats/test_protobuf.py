# SPDX-License-Identifier: GPL-2.0-only
"""The wire format: what is written is read, by us and by protobuf's own library; what is no message is an error."""

from __future__ import annotations

from typing import Any

import pytest
from chakra.schema.protobuf import et_def_pb2 as et
from hypothesis import given
from hypothesis import strategies as st

from astra_py.formats.chakra_attributes import read_attribute, write_attribute
from astra_py.formats.protobuf import (
    LENGTH,
    VARINT,
    WireError,
    field,
    fields,
    message,
    packed,
    varint,
    varint_bytes,
    varints,
)

UINT64 = st.integers(0, 2**64 - 1)


@given(UINT64)
def test_an_integer_comes_back(value: int) -> None:
    data = varint_bytes(value)
    assert varint(data, 0, len(data)) == (value, len(data))
    with pytest.raises(WireError, match="byte 0: a varint is cut"):
        varint(data, 0, len(data) - 1)


@given(st.lists(UINT64))
def test_packed_integers_come_back(values: list[int]) -> None:
    data = packed(4, values)
    found = [value for _, _, begin, end in fields(data, 0, len(data)) for value in varints(data, begin, end)]
    assert found == values


def test_a_negative_integer_is_its_twos_complement() -> None:
    data = varint_bytes(-1)
    assert varint(data, 0, len(data)) == (2**64 - 1, 10)


def test_fields_are_found_where_they_are() -> None:
    data = field(1, 300) + field(2, "name") + b"\x1d" + bytes(4) + b"\x21" + bytes(8)
    assert [(number, wire, data[begin:end]) for number, wire, begin, end in fields(data, 0, len(data))] == [
        (1, VARINT, b"\xac\x02"),
        (2, LENGTH, b"name"),
        (3, 5, bytes(4)),
        (4, 1, bytes(8)),
    ]
    assert message(b"abc") == b"\x03abc"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\xff" * 11, "byte 0: a varint has more than 64 bits"),
        (b"\xff" * 9 + b"\x02", "byte 0: a varint has more than 64 bits"),
        (b"\x08", "byte 1: a varint is cut"),
        (b"\x0a\x05abc", "byte 0: field 1 ends at byte 7, after its message, which ends at 5"),
        (b"\x00\x00", "byte 0: field number 0"),
        (b"\x0b", "byte 0: wire type 3 of field 1"),
        (b"\x0a" + varint_bytes(2**60), f"field 1 ends at byte {2**60 + 10}"),
        (b"\x0d\x00", "field 1 ends at byte 5"),
    ],
)
def test_what_is_no_message_is_an_error(data: bytes, what: str) -> None:
    with pytest.raises(WireError) as error:
        list(fields(data, 0, len(data)))
    assert what in str(error.value)


SINGLE: list[tuple[str, Any]] = [
    ("double_val", 0.5),
    ("float_val", -2.0),
    ("int32_val", -3),
    ("int64_val", -(2**63)),
    ("uint32_val", 2**32 - 1),
    ("uint64_val", 2**64 - 1),
    ("sint32_val", -(2**31)),
    ("sint64_val", -(2**63)),
    ("fixed32_val", 7),
    ("fixed64_val", 2**63),
    ("sfixed32_val", -7),
    ("sfixed64_val", -(2**63)),
    ("bool_val", True),
    ("string_val", "für"),
    ("bytes_val", b"\xff\x00"),
]


@pytest.mark.parametrize(("name", "value"), SINGLE)
def test_attributes_of_every_type_are_read(name: str, value: Any) -> None:
    data = et.AttributeProto(name="a", doc_string="ignored", **{name: value}).SerializeToString()
    assert read_attribute(data, 0, len(data)) == ("a", value)
    many = et.AttributeProto(name="a")
    getattr(many, name.replace("_val", "_list")).values.extend([value, value])
    data = many.SerializeToString()
    assert read_attribute(data, 0, len(data)) == ("a", (value, value))


@pytest.mark.parametrize("value", [True, 5, -5, "text", [1, 2**40], []])
def test_attributes_are_written_as_protobuf_reads_them(value: Any) -> None:
    data = write_attribute("a", value)
    read = et.AttributeProto.FromString(data)
    found = getattr(read, read.WhichOneof("value"))
    assert (read.name, list(found.values) if isinstance(value, list) else found) == ("a", value)
    assert read_attribute(data, 0, len(data)) == ("a", tuple(value) if isinstance(value, list) else value)


def test_an_attribute_without_a_value_is_none() -> None:
    assert read_attribute(b"\x0a\x01a", 0, 3) is None


@pytest.mark.parametrize(
    "data",
    [b"\x48", b"\x4a\x00", b"\x0a\x01\xff", b"\x08\x01", b"\x52\x02\x0d\x00", b"\x22\x03\x0a\x01\x00", b"\x8a\x02\x00"],
)
def test_what_is_no_attribute_is_an_error(data: bytes) -> None:
    with pytest.raises(WireError):
        read_attribute(data, 0, len(data))
