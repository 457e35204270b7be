# SPDX-License-Identifier: GPL-2.0-only
"""Sweeps: many runs of one scenario, resumable, each in a process of its own."""
