// SPDX-License-Identifier: GPL-2.0-only
#include "../core/errors.h"
#include "bindings.h"

#include "ns3/type-id.h"

#include <string>

namespace ns3
{

namespace py = pybind11;

namespace
{

TypeId
Lookup(const std::string& name)
{
    TypeId type;
    if (!TypeId::LookupByNameFailSafe(name, &type))
    {
        throw ConfigError("ns-3 has no class \"" + name + "\"");
    }
    return type;
}

py::dict
Attributes(const std::string& name)
{
    const TypeId type = Lookup(name);
    py::dict attributes;
    for (size_t i = 0; i < type.GetAttributeN(); ++i)
    {
        const TypeId::AttributeInformation info = type.GetAttribute(i);
        py::dict fields;
        fields["help"] = info.help;
        fields["default"] = info.initialValue->SerializeToString(info.checker);
        fields["type"] = info.checker->GetValueTypeName();
        fields["is_settable"] = (info.flags & TypeId::ATTR_SET) != 0;
        attributes[py::str(info.name)] = fields;
    }
    return attributes;
}

py::dict
TraceSources(const std::string& name)
{
    const TypeId type = Lookup(name);
    py::dict sources;
    for (size_t i = 0; i < type.GetTraceSourceN(); ++i)
    {
        const TypeId::TraceSourceInformation info = type.GetTraceSource(i);
        sources[py::str(info.name)] = info.help;
    }
    return sources;
}

} // namespace

void
BindTypeIds(py::module_& module)
{
    module.def("attributes",
               &Attributes,
               py::arg("type_name"),
               "Attributes of an ns-3 class by name: help, default, type, is_settable.");
    module.def("trace_sources",
               &TraceSources,
               py::arg("type_name"),
               "Trace sources of an ns-3 class: name to help.");
}

} // namespace ns3
