# SPDX-License-Identifier: GPL-2.0-only
"""Figures of devices: accelerators by name, each figure with its source, and the headroom of a switch's port."""

from astra_py.hardware.accelerator import Accelerator, accelerator, accelerators
from astra_py.hardware.headroom import Headroom, pfc_headroom

__all__ = ["Accelerator", "Headroom", "accelerator", "accelerators", "pfc_headroom"]
