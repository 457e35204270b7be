// SPDX-License-Identifier: GPL-2.0-only
#include "../core/errors.h"
#include "bindings.h"

#include <exception>
#include <pybind11/gil_safe_call_once.h>

namespace ns3
{

namespace py = pybind11;

namespace
{

/// The package's own exception classes; the extension is part of it and has none of its own.
const py::object&
ErrorClasses()
{
    PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> storage;
    return storage.call_once_and_store_result([] { return py::module_::import("astra_py.errors"); })
        .get_stored();
}

} // namespace

void
BindErrors(py::module_&)
{
    ErrorClasses();
    py::register_exception_translator([](std::exception_ptr pointer) {
        try
        {
            if (pointer)
            {
                std::rethrow_exception(pointer);
            }
        }
        catch (const ConfigError& error)
        {
            py::set_error(ErrorClasses().attr("ConfigError"), error.what());
        }
        catch (const InvariantError& error)
        {
            py::set_error(ErrorClasses().attr("SimulationError"), error.what());
        }
    });
}

} // namespace ns3
