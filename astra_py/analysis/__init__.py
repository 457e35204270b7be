# SPDX-License-Identifier: GPL-2.0-only
"""What results mean: where the time went, comparisons, bounds, closed forms, validation, fits. Import the modules."""
