// SPDX-License-Identifier: GPL-2.0-only
#include "failure.h"

namespace ns3
{

namespace py = pybind11;

py::object
GiveFailure(const std::exception_ptr& failure)
{
    if (!failure)
    {
        return py::none();
    }
    // A call through Python translates it as any other.
    const py::cpp_function rethrow([&failure] { std::rethrow_exception(failure); });
    try
    {
        rethrow();
    }
    catch (const py::error_already_set& error)
    {
        return error.value();
    }
    return py::none();
}

} // namespace ns3
