# SPDX-License-Identifier: GPL-2.0-only
"""What all tests share."""

from hypothesis import settings

# A busy machine may take any time for one example, so that a deadline would find faults that are none. Examples are
# the same everywhere, so that what is green here is green there; `make full` draws new ones, and the blob that a
# failure prints brings its example back.
settings.register_profile("same", deadline=None, print_blob=True, derandomize=True)
settings.register_profile("new", deadline=None, print_blob=True)
settings.load_profile("same")
