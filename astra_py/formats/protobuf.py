# SPDX-License-Identifier: GPL-2.0-only
"""The wire format of protocol buffers: as much of it as reading and writing a stream of small messages needs.

A message is a row of fields, each a key (field number and wire type) and a value; a stream is a row of messages, each
after its length. See https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

__all__ = [
    "FIXED32",
    "FIXED64",
    "LENGTH",
    "VARINT",
    "WireError",
    "field",
    "fields",
    "message",
    "next_field",
    "packed",
    "varint",
    "varint_bytes",
    "varints",
]

#: Wire types. Groups (3 and 4) are not in use any more.
VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5

_FIXED_BYTES = {FIXED64: 8, FIXED32: 4}

#: Most bytes of a varint: 64 bits, seven a byte.
_MOST_VARINT_BYTES = 10


class WireError(Exception):
    """Bytes that are no message.

    Parameters
    ----------
    at : the byte's offset.
    what : what is wrong there.
    """

    def __init__(self, at: int, what: str) -> None:
        super().__init__(f"byte {at}: {what}")


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Read an unsigned integer of up to 64 bits.

    Parameters
    ----------
    data, at, end : where it begins, and what it must not go beyond.

    Returns
    -------
    The integer, and the offset after it.

    Raises
    ------
    WireError : it is cut, or has more than 64 bits.
    """
    value = shift = 0
    place, stop = at, min(end, at + _MOST_VARINT_BYTES)
    while place < stop:
        byte = data[place]
        place += 1
        if byte < 0x80:
            value |= byte << shift
            if value >> 64:
                break
            return value, place
        value |= (byte & 0x7F) << shift
        shift += 7
    raise WireError(at, "a varint is cut" if at + _MOST_VARINT_BYTES > end else "a varint has more than 64 bits")


def varints(data: bytes, at: int, end: int) -> list[int]:
    """Read the unsigned integers that fill ``data[at:end]``, as a packed field has them.

    Raises
    ------
    WireError : as :func:`varint`.
    """
    values = []
    while at < end:
        value, at = varint(data, at, end)
        values.append(value)
    return values


def next_field(data: bytes, at: int, end: int) -> tuple[int, int, int, int]:
    """Read the field that begins at ``data[at]`` in a message that ends before ``end``; nothing is copied.

    Returns
    -------
    Field number, wire type, and the first and last + 1 offset of the value; the next field begins at the last one.

    Raises
    ------
    WireError : it is cut, has a number or a wire type that does not exist, or is longer than the message.
    """
    key, begin = varint(data, at, end)
    number, wire = key >> 3, key & 7
    if not 0 < number < 2**29:
        raise WireError(at, f"field number {number}")
    if wire == VARINT:
        _, stop = varint(data, begin, end)
    elif wire == LENGTH:
        length, begin = varint(data, begin, end)
        stop = begin + length
    elif wire in _FIXED_BYTES:
        stop = begin + _FIXED_BYTES[wire]
    else:
        raise WireError(at, f"wire type {wire} of field {number}")
    if stop > end:
        raise WireError(at, f"field {number} ends at byte {stop}, after its message, which ends at {end}")
    return number, wire, begin, stop


def fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Read the fields of the message ``data[at:end]``, each as :func:`next_field` returns it.

    Raises
    ------
    WireError : as :func:`next_field`.
    """
    while at < end:
        field = next_field(data, at, end)
        at = field[3]
        yield field


def varint_bytes(value: int) -> bytes:
    """Write an unsigned integer of up to 64 bits; a negative one as its two's complement, as int32 and int64 are."""
    value &= 2**64 - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, value: int | bytes | str) -> bytes:
    """Write a field: an integer as a varint, bytes and text with their length."""
    if isinstance(value, int):
        return varint_bytes(number << 3 | VARINT) + varint_bytes(value)
    return varint_bytes(number << 3 | LENGTH) + message(value.encode() if isinstance(value, str) else value)


def packed(number: int, values: Iterable[int]) -> bytes:
    """Write a repeated field of integers; nothing where there are none."""
    body = b"".join(map(varint_bytes, values))
    return field(number, body) if body else b""


def message(body: bytes) -> bytes:
    """Write a message of a stream: its length, then ``body``."""
    return varint_bytes(len(body)) + body
