// SPDX-License-Identifier: GPL-2.0-only
#include "progress-hook.h"

#include <chrono>
#include <memory>

namespace ns3
{

namespace py = pybind11;

namespace
{

/// Time between two looks at Python while an engine runs.
constexpr std::chrono::milliseconds PYTHON_INTERVAL{100};

} // namespace

ProgressHook
MakeHook(const py::object& callback)
{
    auto last =
        std::make_shared<std::chrono::steady_clock::time_point>(std::chrono::steady_clock::now());
    return [last, &callback](TimePs now, uint64_t events, uint64_t done, uint64_t ops) {
        const auto clock = std::chrono::steady_clock::now();
        if (clock - *last < PYTHON_INTERVAL)
        {
            return;
        }
        *last = clock;
        const py::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0)
        {
            throw py::error_already_set();
        }
        if (!callback.is_none())
        {
            callback(now, events, done, ops);
        }
    };
}

} // namespace ns3
