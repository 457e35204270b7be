# SPDX-License-Identifier: GPL-2.0-only
"""Engines: what runs a Schedule on a Platform, behind one seam."""
