// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_PROGRESS_HOOK_H
#define ASTRA_PROGRESS_HOOK_H

#include "../engine/run-outcome.h"

#include <pybind11/pybind11.h>

namespace ns3
{

/**
 * A hook that lets Ctrl-C through and calls the user back now and then, from a run without the GIL.
 *
 * @param callback A Python callable, or None; must outlive the hook.
 */
ProgressHook MakeHook(const pybind11::object& callback);

} // namespace ns3

#endif // ASTRA_PROGRESS_HOOK_H
