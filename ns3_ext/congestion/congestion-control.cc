// SPDX-License-Identifier: GPL-2.0-only
#include "congestion-control.h"

#include "../core/errors.h"

#include "ns3/object-factory.h"
#include "ns3/string.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CongestionControl);

TypeId
CongestionControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::CongestionControl").SetParent<Object>().SetGroupName("Congestion");
    return tid;
}

CongestionControl::CongestionControl() = default;

CongestionControl::~CongestionControl() = default;

Ptr<CongestionControl>
MakeCongestionControl(const std::string& typeName,
                      const std::map<std::string, std::string>& attributes)
{
    TypeId type;
    if (!TypeId::LookupByNameFailSafe(typeName, &type) ||
        !type.IsChildOf(CongestionControl::GetTypeId()) || !type.HasConstructor())
    {
        throw ConfigError("there is no congestion control \"" + typeName + "\"");
    }
    ObjectFactory factory;
    factory.SetTypeId(type);
    const auto control = factory.Create<CongestionControl>();
    for (const auto& [name, text] : attributes)
    {
        if (!control->SetAttributeFailSafe(name, StringValue(text)))
        {
            throw ConfigError(typeName + " has no attribute \"" + name + "\" that can be \"" +
                              text + "\"");
        }
    }
    return control;
}

} // namespace ns3
