# SPDX-License-Identifier: GPL-2.0-only
"""Attributes of Chakra nodes: a name and a value of one of fifteen types, or a list of such.

Field numbers and types are those of ``AttributeProto`` in MLCommons Chakra's ``et_def.proto``, schema 0.0.4.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable

from astra_py.formats.protobuf import (
    FIXED32,
    FIXED64,
    LENGTH,
    VARINT,
    WireError,
    field,
    fields,
    next_field,
    packed,
    varint,
)

__all__ = ["Attribute", "Value", "read_attribute", "write_attribute"]

Scalar = int | float | str | bytes
Value = Scalar | tuple[Scalar, ...]

#: A node's attribute: name and value.
Attribute = tuple[str, Value]

_NAME, _DOCUMENTATION = 1, 2

_Decode = Callable[[bytes, int, int], Scalar]


def _unsigned(bits: int) -> _Decode:
    return lambda data, at, end: varint(data, at, end)[0] & (1 << bits) - 1


def _signed(bits: int) -> _Decode:
    """Two's complement, which int32 keeps in 64 bits, too."""

    def decode(data: bytes, at: int, end: int) -> int:
        value = varint(data, at, end)[0] & (1 << bits) - 1
        return value - (1 << bits) if value >> (bits - 1) else value

    return decode


def _zigzag(data: bytes, at: int, end: int) -> int:
    value, _ = varint(data, at, end)
    return value >> 1 ^ -(value & 1)


def _fixed(code: str) -> _Decode:
    unpack = struct.Struct("<" + code).unpack_from
    return lambda data, at, end: unpack(data, at)[0]


def _text(data: bytes, at: int, end: int) -> str:
    try:
        return data[at:end].decode()
    except UnicodeDecodeError:
        raise WireError(at, "a text is not UTF-8") from None


#: Wire type and decoder by field number; a list of such values has the next number.
_SCALARS: dict[int, tuple[int, _Decode]] = {
    3: (FIXED64, _fixed("d")),
    5: (FIXED32, _fixed("f")),
    7: (VARINT, _signed(32)),
    9: (VARINT, _signed(64)),
    11: (VARINT, _unsigned(32)),
    13: (VARINT, _unsigned(64)),
    15: (VARINT, _zigzag),
    17: (VARINT, _zigzag),
    19: (FIXED32, _fixed("I")),
    21: (FIXED64, _fixed("Q")),
    23: (FIXED32, _fixed("i")),
    25: (FIXED64, _fixed("q")),
    27: (VARINT, _unsigned(1)),
    29: (LENGTH, _text),
    31: (LENGTH, lambda data, at, end: data[at:end]),
}
_INT64, _BOOL, _STRING = 9, 27, 29


def read_attribute(data: bytes, at: int, end: int) -> Attribute | None:
    """Read the attribute ``data[at:end]``: its name and its value, a bool as an integer; None where it has no value.

    Raises
    ------
    WireError : it is no attribute.
    """
    name = ""
    value: Value | None = None
    while at < end:
        number, wire, begin, stop = next_field(data, at, end)
        at = stop
        if number == _NAME and wire == LENGTH:
            name = _text(data, begin, stop)
        elif number in _SCALARS:
            wanted, decode = _SCALARS[number]
            if wire != wanted:
                raise WireError(begin, f"wire type {wire} of value {number} in an attribute")
            value = decode(data, begin, stop)
        elif number - 1 in _SCALARS and wire == LENGTH:
            value = tuple(_items(data, begin, stop, *_SCALARS[number - 1]))
        elif number != _DOCUMENTATION or wire != LENGTH:
            raise WireError(begin, f"field {number} of wire type {wire} in an attribute")
    return None if value is None else (name, value)


def _items(data: bytes, at: int, end: int, wanted: int, decode: _Decode) -> Iterable[Scalar]:
    """Values of a list: its field 1, each for itself or many packed."""
    for number, wire, begin, stop in fields(data, at, end):
        if number != 1 or wire not in (wanted, LENGTH):
            raise WireError(begin, f"field {number} of wire type {wire} in a list")
        if wire == wanted:
            yield decode(data, begin, stop)
        elif wanted == VARINT:
            while begin < stop:
                following = varint(data, begin, stop)[1]
                yield decode(data, begin, following)
                begin = following
        else:
            size = 8 if wanted == FIXED64 else 4
            if (stop - begin) % size:
                raise WireError(begin, f"{stop - begin} bytes of values of {size}")
            yield from (decode(data, place, place + size) for place in range(begin, stop, size))


def write_attribute(name: str, value: int | str | Iterable[int]) -> bytes:
    """Write an attribute: a bool, an integer as int64, a text, or a list of int64."""
    if isinstance(value, bool):
        body = field(_BOOL, value)
    elif isinstance(value, int):
        body = field(_INT64, value)
    elif isinstance(value, str):
        body = field(_STRING, value)
    else:
        body = field(_INT64 + 1, packed(1, value))
    return field(_NAME, name) + body
