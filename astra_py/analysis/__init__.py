# SPDX-License-Identifier: GPL-2.0-only
"""What results mean: bounds, closed forms of iterations, published measurements, and where engines differ and why."""
