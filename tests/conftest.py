# SPDX-License-Identifier: GPL-2.0-only
"""What all tests share."""

from hypothesis import settings

# a busy machine may take any time for one example, so that a deadline would find faults that are none; the examples
# are still random, and the blob that a failure prints brings its example back
settings.register_profile("any_machine", deadline=None, print_blob=True)
settings.load_profile("any_machine")
