# SPDX-License-Identifier: GPL-2.0-only
"""What a rank computes with: accelerators by name, each figure with its source."""

from astra_py.hardware.accelerator import Accelerator, accelerator, accelerators

__all__ = ["Accelerator", "accelerator", "accelerators"]
