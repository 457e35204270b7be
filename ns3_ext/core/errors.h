// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_ERRORS_H
#define ASTRA_ERRORS_H

#include <stdexcept>
#include <string>

namespace ns3
{

/// What was asked for cannot be built; becomes astra_py.errors.ConfigError.
class ConfigError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/// An invariant of a running simulation broke; becomes astra_py.errors.SimulationError.
class InvariantError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

} // namespace ns3

#endif // ASTRA_ERRORS_H
