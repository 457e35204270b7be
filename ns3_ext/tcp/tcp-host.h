// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_TCP_HOST_H
#define ASTRA_TCP_HOST_H

#include "../roce/roce-nic.h"
#include "fabric-tcp-device.h"
#include "fabric-tcp-socket.h"
#include "host-stack.h"

#include "ns3/node.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <deque>

namespace ns3
{

/// What a rank has of TCP.
struct TcpHost
{
    Ptr<Node> node;
    Ptr<FabricTcpDevice> device;
    Ptr<FabricTcpSocket> listener; ///< Where connections are opened by calls.
    Ptr<HostStack> stack;          ///< Its machine's.
    RoceNic* nic{nullptr};         ///< Takes what comes over scale-up links.
    uint32_t localRank{0};         ///< In its machine.
    NicCounters counters;
};

/// By rank.
using TcpHosts = std::deque<TcpHost>;

/// Lets one object ask hosts for several kinds of work: each kind is a member and a handler.
template <typename T, void (T::*MEMBER)(uint64_t)>
class MemberWorkDone final : public HostWorkDone
{
  public:
    explicit MemberWorkDone(T& object)
        : m_object(object)
    {
    }

    void WorkDone(uint64_t argument) override
    {
        (m_object.*MEMBER)(argument);
    }

  private:
    T& m_object;
};

} // namespace ns3

#endif // ASTRA_TCP_HOST_H
