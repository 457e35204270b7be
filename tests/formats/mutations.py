# SPDX-License-Identifier: GPL-2.0-only
"""Damaged files: a reader survives each with its own errors or a Document, within a bound of memory.

A format's test module gives its fixtures to :func:`survives`; ``FEW`` mutations run in every test run, ``MANY`` in the
slow tests.
"""

from __future__ import annotations

import random
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from astra_py.errors import TopologyError, WorkloadError
from astra_py.formats import Format, Head, Options

FEW, MANY = 300, 10_000

#: Memory that reading may take at its peak: as many times the file, and so much in any case.
_TIMES, _IN_ANY_CASE = 64, 4 * 2**20

Mutation = Callable[[random.Random, bytes], bytes]

#: What stands in numbers' places: limits, signs, other scripts' digits, what only Python takes for a number.
_NUMBERS = (b"-1", b"0", b"1e9", b"1e400", b"nan", b"inf", b"-0", b"0x10", b"1_0", "٣".encode(), b"9" * 40, b"")
_NUMBERS += tuple(str(value).encode() for value in (2**31, 2**32, 2**63 - 1, 2**63, 2**64, 0.5))
#: What stands where nothing of the sort is: bytes of other encodings, what structures begin and end with, far too much.
_TOKENS = (b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\t", b"{", b"}", b"[", b"]", b'"', b":", b",", b"<")
_TOKENS += (
    b"&a",
    b"*a",
    b"!!python/object:os.system ",
    b"null",
    b"NONE",
    b"%s",
    "é".encode(),
    b"\x80" * 10,
    b" " * 1000,
)


def _flip(draw: random.Random, data: bytes) -> bytes:
    at = draw.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]


def _byte(draw: random.Random, data: bytes) -> bytes:
    at = draw.randrange(len(data))
    return data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]


def _cut(draw: random.Random, data: bytes) -> bytes:
    return data[: draw.randrange(len(data))]


def _drop(draw: random.Random, data: bytes) -> bytes:
    at = draw.randrange(len(data))
    return data[:at] + data[at + draw.randint(1, 16) :]


def _insert(draw: random.Random, data: bytes) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.choice(_TOKENS) + data[at:]


def _double(draw: random.Random, data: bytes) -> bytes:
    at, length = draw.randrange(len(data)), draw.randint(1, 64)
    return data[: at + length] + data[at:]


def _number(draw: random.Random, data: bytes) -> bytes:
    """Another number in place of one."""
    numbers = list(re.finditer(rb"-?[0-9]+(?:\.[0-9]+)?", data))
    if not numbers:
        return _byte(draw, data)
    found = draw.choice(numbers)
    return data[: found.start()] + draw.choice(_NUMBERS) + data[found.end() :]


def _lines(draw: random.Random, data: bytes) -> bytes:
    """A line dropped, doubled or elsewhere."""
    lines = data.split(b"\n")
    at, to = draw.randrange(len(lines)), draw.randrange(len(lines))
    moved = lines.pop(at) if draw.random() < 0.7 else lines[at]
    if draw.random() < 0.7:
        lines.insert(to, moved)
    return b"\n".join(lines)


def _words(draw: random.Random, data: bytes) -> bytes:
    """Two words in each other's place."""
    words = list(re.finditer(rb"\S+", data))
    if len(words) < 2:
        return _byte(draw, data)
    first, second = sorted(draw.sample(words, 2), key=lambda word: word.start())
    between = data[first.end() : second.start()]
    return data[: first.start()] + second[0] + between + first[0] + data[second.end() :]


_MUTATIONS: tuple[Mutation, ...] = (_flip, _byte, _cut, _drop, _insert, _double, _number, _number, _lines, _words)


def mutated(seed: int, data: bytes) -> bytes:
    """``data`` after one to three mutations, the same ones for the same seed."""
    draw = random.Random(seed)
    for _ in range(draw.randint(1, 3)):
        data = draw.choice(_MUTATIONS)(draw, data) if data else b"\0"
    return data


def survives(
    format: Format,
    fixtures: list[Path],
    folder: Path,
    count: int,
    *,
    use: Callable[[object], object] = lambda content: None,
) -> None:
    """Read ``count`` mutations of a format's fixtures, and fail on anything but its own errors within its memory.

    Parameters
    ----------
    format : the format.
    fixtures : whole files of it; the mutated one has the fixture's name, in ``folder``.
    folder : an empty folder.
    count : number of mutations, over all fixtures.
    use : is done with the content of what is still read, where reading alone does not make all of it.
    """
    originals = [(path.name, path.read_bytes()) for path in fixtures]
    errors = 0
    tracemalloc.start()
    try:
        for seed in range(count):
            name, original = originals[seed % len(originals)]
            data, path = mutated(seed, original), folder / name
            path.write_bytes(data)
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            message = None
            try:
                format.recognises(path, Head.of(path))
                use(format.read(path, Options()).content)
            except (TopologyError, WorkloadError) as error:
                message = str(error)
            except Exception as error:
                raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}\n{data[:2000]!r}") from error
            errors += message is not None
            assert message is None or name in message, f"seed {seed}: the error names no file: {message}"
            peak = tracemalloc.get_traced_memory()[1] - before
            assert peak <= _TIMES * len(data) + _IN_ANY_CASE, f"seed {seed}: {peak} B for a file of {len(data)} B"
    finally:
        tracemalloc.stop()
    # mutations that no reader notices would be no test
    assert errors >= count // 5, f"only {errors} of {count} mutations were found"
