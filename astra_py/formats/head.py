# SPDX-License-Identifier: GPL-2.0-only
"""The beginning of a file, by which its format is recognised, and what files of other programs begin with."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from astra_py.config.input_files import input_files

__all__ = ["Head", "foreign_title"]

#: So much of a file is looked at.
_HEAD_BYTES = 64 * 2**10


@dataclass(frozen=True)
class Head:
    """The beginning of a file.

    Attributes
    ----------
    data : its first bytes, at most 64 KiB; of what is in it where it is a gzip.
    is_gzip : whether it is a gzip.
    is_whole : whether ``data`` is all there is.
    """

    data: bytes
    is_gzip: bool = False
    is_whole: bool = True

    @classmethod
    def of(cls, path: Path) -> Head:
        """Read the beginning of a file, or of the first one of those whose names begin with ``path``.

        Raises
        ------
        OSError : it cannot be read.
        """
        with next(iter(input_files(path).values()), path).open("rb") as file:
            data = file.read(_HEAD_BYTES + 1)
        if not data.startswith(b"\x1f\x8b"):
            return cls(data[:_HEAD_BYTES], is_whole=len(data) <= _HEAD_BYTES)
        unpacked = b""
        # a damaged one is a gzip all the same, with nothing to be seen in it
        with suppress(zlib.error):
            unpacked = zlib.decompressobj(wbits=31).decompress(data, _HEAD_BYTES)
        return cls(unpacked, is_gzip=True, is_whole=False)

    @cached_property
    def text(self) -> str | None:
        """``data`` as UTF-8 text; None where it is none."""
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            # a character that the end of the head cuts
            is_cut = not self.is_whole and error.start >= len(self.data) - 3
            return self.data[: error.start].decode("utf-8-sig") if is_cut and error.start else None

    @cached_property
    def lines(self) -> list[list[str]]:
        """The fields of the first lines that are not empty, at most 20; none where it is no text."""
        lines = re.split(r"\r\n|\n|\r", self.text or "")
        if not self.is_whole:
            lines = lines[:-1] or lines
        return [line.split() for line in lines if line.strip()][:20]

    @cached_property
    def json_keys(self) -> frozenset[str]:
        """Keys of any depth that the beginning of a JSON file has; none where it is none."""
        text = (self.text or "").lstrip()
        return frozenset(re.findall(r'"([^"\\\n]{1,80})"\s*:', text)) if text[:1] in ("{", "[") else frozenset()


def _is_dlrm(head: Head) -> bool:
    """A TOML file with a bottom MLP, and a top one, tables or a generator of them."""
    text = head.text or ""
    return all(
        re.search(words, text, re.MULTILINE) for words in (r"^bottom\s*=", r"^(top\s*=|\[(\[tables\]|generator)\])")
    )


def _is_chrome_trace(head: Head) -> bool:
    return "traceEvents" in head.json_keys or {"ph", "ts", "pid"} <= head.json_keys


#: What others' files are, and how they are told; the first that fits counts.
_FOREIGN: tuple[tuple[str, Callable[[Head], bool]], ...] = (
    (
        "is a Chrome trace, as PyTorch's profiler (Kineto) exports: when kernels ran, and not what they exchanged",
        _is_chrome_trace,
    ),
    ("is empty", lambda head: not head.data.strip() and not head.is_gzip),
    ("is a zip archive, such as torch.save makes", lambda head: head.data.startswith(b"PK\x03\x04")),
    ("is a Python pickle", lambda head: head.data[:1] == b"\x80" and head.data[1:2] in b"\x02\x03\x04\x05"),
    ("is an SQLite database, such as Nsight Systems exports", lambda head: head.data.startswith(b"SQLite format 3")),
    ("is a Parquet file", lambda head: head.data.startswith(b"PAR1")),
    (
        "is a pcap capture",
        lambda head: head.data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1", b"\x0a\x0d\x0d\x0a"),
    ),
    ("is an ELF binary", lambda head: head.data.startswith(b"\x7fELF")),
    (
        "is a SimAI workload, ASTRA-sim 1.0's text with a header of its own",
        lambda head: bool(head.lines) and "model_parallel_NPU_group:" in head.lines[0] and len(head.lines[0]) > 3,
    ),
    (
        "is a node's topology as NCCL writes it (XML)",
        lambda head: (head.text or "").lstrip().startswith("<system"),
    ),
    (
        "is an MSCCL program (XML); collective.KIND = 'file:PATH.xml' takes it",
        lambda head: "<algo " in (head.text or ""),
    ),
    ("is a DLRM's description (TOML); workload.file takes it with workload.kind = 'dlrm'", _is_dlrm),
    (
        "is a DLRM's tables (CSV); [[tables]] file = ... of a DLRM's description takes it",
        lambda head: {"rows", "dim", "pooling"} <= set("".join(head.lines[0] if head.lines else ()).split(",")),
    ),
    ("is XML", lambda head: (head.text or "").lstrip().startswith("<")),
    ("is a gzip of something that is not recognised", lambda head: head.is_gzip),
    ("is JSON of another sort", lambda head: bool(head.json_keys)),
    ("is a binary file, perhaps protobuf", lambda head: head.text is None or "\0" in head.text),
)


def foreign_title(head: Head) -> str | None:
    """Say what a file of no known format seems to be, as the rest of a sentence; None where nothing is known."""
    return next((title for title, is_it in _FOREIGN if is_it(head)), None)
