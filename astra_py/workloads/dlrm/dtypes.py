# SPDX-License-Identifier: GPL-2.0-only
"""Element types by name, and how many bytes an element takes in memory and on the wire."""

from __future__ import annotations

__all__ = ["DTYPE_BYTES"]

#: Bytes of an element. TF32 is a way to compute with FP32 numbers; they are kept in 4 bytes.
DTYPE_BYTES = {
    "fp32": 4,
    "tf32": 4,
    "fp16": 2,
    "bf16": 2,
    "fp8": 1,
    "int8": 1,
    "int32": 4,
    "int64": 8,
}
