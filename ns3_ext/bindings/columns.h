// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_COLUMNS_H
#define ASTRA_COLUMNS_H

#include "../core/errors.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ns3
{

namespace py = pybind11;

/**
 * A numpy column of a Python object, as a vector.
 *
 * @tparam T Element; an enum is read as its underlying type.
 * @param object Has the column as an attribute.
 * @param name The attribute.
 * @throws ConfigError when it is no one-dimensional array of just that type: nothing is converted
 *         on the way, so that no value can change.
 */
template <typename T>
std::vector<T>
ReadColumn(const py::handle& object, const char* name)
{
    using Stored = typename std::
        conditional_t<std::is_enum_v<T>, std::underlying_type<T>, std::type_identity<T>>::type;
    const py::object attribute = object.attr(name);
    if (!py::isinstance<py::array_t<Stored, py::array::c_style>>(attribute))
    {
        throw ConfigError(std::string(name) + ": has to be a contiguous numpy array of " +
                          py::str(py::dtype::of<Stored>()).cast<std::string>());
    }
    const auto array = py::reinterpret_borrow<py::array_t<Stored, py::array::c_style>>(attribute);
    if (array.ndim() != 1)
    {
        throw ConfigError(std::string(name) + ": has to have one dimension");
    }
    std::vector<T> column(static_cast<size_t>(array.size()));
    if (!column.empty())
    {
        std::memcpy(column.data(), array.data(), column.size() * sizeof(T));
    }
    return column;
}

/// An enum from Python, refused outside its values 0..last.
template <typename T>
T
ReadEnum(const py::handle& object, const char* name, T last)
{
    const auto value = object.attr(name).cast<int64_t>();
    if (value < 0 || value > static_cast<int64_t>(last))
    {
        throw ConfigError(std::string(name) + ": " + std::to_string(value) +
                          " is none of its values, 0.." +
                          std::to_string(static_cast<int64_t>(last)));
    }
    return static_cast<T>(value);
}

/// A vector as a numpy array that takes its memory over.
template <typename T>
py::array_t<T>
GiveColumn(std::vector<T>&& column)
{
    auto owner = std::make_unique<std::vector<T>>(std::move(column));
    T* data = owner->data();
    const auto size = static_cast<py::ssize_t>(owner->size());
    const py::capsule keeper(owner.release(),
                             [](void* vector) { delete static_cast<std::vector<T>*>(vector); });
    return py::array_t<T>(size, data, keeper);
}

} // namespace ns3

#endif // ASTRA_COLUMNS_H
