// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FABRIC_SWITCH_H
#define ASTRA_FABRIC_SWITCH_H

#include "../core/units.h"

#include "ns3/nstime.h"
#include "ns3/object.h"

namespace ns3
{

/**
 * A store-and-forward switch, aggregated to its Node.
 *
 * A frame may leave a forwarding latency after its last byte came in; its egress is one of the
 * shortest ways to its destination, by the switch's own hash of the flow (RouteTable).
 */
class FabricSwitch : public Object
{
  public:
    static TypeId GetTypeId();

    FabricSwitch();
    ~FabricSwitch() override;

    TimePs ForwardingLatency() const
    {
        return m_forwardingLatency.GetTimeStep();
    }

  private:
    Time m_forwardingLatency;
};

} // namespace ns3

#endif // ASTRA_FABRIC_SWITCH_H
