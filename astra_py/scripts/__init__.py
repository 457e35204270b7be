# SPDX-License-Identifier: GPL-2.0-only
"""Scripts to copy to where another program runs; none of them imports this package."""
