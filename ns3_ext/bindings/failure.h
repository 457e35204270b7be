// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FAILURE_H
#define ASTRA_FAILURE_H

#include <exception>
#include <pybind11/pybind11.h>

namespace ns3
{

/// What was thrown, as the exception that Python would see; None where nothing was.
pybind11::object GiveFailure(const std::exception_ptr& failure);

} // namespace ns3

#endif // ASTRA_FAILURE_H
