# SPDX-License-Identifier: GPL-2.0-only
"""What a user asks after a run: where the time went, and how engines, transports and algorithms compare."""
