# SPDX-License-Identifier: GPL-2.0-only
"""What is made of runs: comparisons, explanations, validation. Import the modules."""
