// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_DATA_PORT_H
#define ASTRA_DATA_PORT_H

#include "../core/units.h"
#include "../fabric/frame.h"
#include "ready-ring.h"

#include <array>
#include <cstdint>

namespace ns3
{

class RoceNic;
struct OutgoingMessage;
struct QueuePair;

/**
 * The data of one of a NIC's ports: a round robin of queue pairs for each priority, asked packet by
 * packet.
 */
class DataPort final : public FrameSource
{
  public:
    DataPort(RoceNic& nic, ChannelId port)
        : m_nic(nic),
          m_port(port)
    {
    }

    uint32_t ReadyMask() const override
    {
        return m_ready;
    }

    FrameSize SizeIfLate(uint8_t priority) const override;
    Frame* NextFrame(uint8_t priority) override;
    void LastFrameStarted(TimePs end) override;

    /// A queue pair may send.
    void Insert(QueuePair* queuePair);

    /// What a queue pair has to send next is to be taken otherwise than before.
    void Resize(const QueuePair& queuePair);

    /// A queue pair of the round robin may not send any more.
    void Remove(QueuePair* queuePair);

    ChannelId Channel() const
    {
        return m_port;
    }

  private:
    RoceNic& m_nic;
    ChannelId m_port;
    uint32_t m_ready{0}; ///< Bit p is set while ring p has queue pairs.
    std::array<ReadyRing, PRIORITIES> m_ring;
    OutgoingMessage* m_lastStarted{nullptr};
    RankId m_lastDestination{0};
};

} // namespace ns3

#endif // ASTRA_DATA_PORT_H
