// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_SET_ATTRIBUTE_H
#define ASTRA_SET_ATTRIBUTE_H

#include "errors.h"

#include "ns3/attribute.h"
#include "ns3/object.h"
#include "ns3/ptr.h"

#include <string>

namespace ns3
{

/**
 * Give an attribute its value.
 *
 * @throws ConfigError when the object refuses it.
 */
inline void
SetAttribute(const Ptr<Object>& object, const std::string& name, const AttributeValue& value)
{
    if (!object->SetAttributeFailSafe(name, value))
    {
        throw ConfigError(object->GetInstanceTypeId().GetName() + "::" + name +
                          " refuses its value");
    }
}

} // namespace ns3

#endif // ASTRA_SET_ATTRIBUTE_H
