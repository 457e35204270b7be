// SPDX-License-Identifier: GPL-2.0-only
#include "ns3-defaults.h"

#include "../core/errors.h"

#include "ns3/string.h"

namespace ns3
{

void
Ns3Defaults::Apply(const std::map<std::string, std::string>& defaults)
{
    for (const auto& [name, text] : defaults)
    {
        const size_t colons = name.rfind("::");
        TypeId type;
        if (colons == std::string::npos ||
            !TypeId::LookupByNameFailSafe(name.substr(0, colons), &type))
        {
            throw ConfigError("ns3.defaults." + name + ": ns-3 has no such class");
        }
        const std::string attribute = name.substr(colons + 2);
        bool isFound = false;
        for (size_t i = 0; i < type.GetAttributeN() && !isFound; ++i)
        {
            const TypeId::AttributeInformation info = type.GetAttribute(i);
            if (info.name != attribute)
            {
                continue;
            }
            isFound = true;
            if ((info.flags & TypeId::ATTR_CONSTRUCT) == 0)
            {
                throw ConfigError("ns3.defaults." + name +
                                  ": it is read-only, its value follows from the platform");
            }
            const Ptr<AttributeValue> value = info.checker->CreateValidValue(StringValue(text));
            if (!value)
            {
                throw ConfigError("ns3.defaults." + name + ": ns-3 does not accept \"" + text +
                                  "\"; allowed is " + info.checker->GetUnderlyingTypeInformation());
            }
            m_saved.push_back(Saved{type, i, info.initialValue});
            type.SetAttributeInitialValue(i, value);
        }
        if (!isFound)
        {
            throw ConfigError("ns3.defaults." + name + ": " + type.GetName() +
                              " has no such attribute");
        }
    }
}

void
Ns3Defaults::Restore()
{
    while (!m_saved.empty())
    {
        Saved& saved = m_saved.back();
        saved.type.SetAttributeInitialValue(saved.index, saved.value);
        m_saved.pop_back();
    }
}

} // namespace ns3
