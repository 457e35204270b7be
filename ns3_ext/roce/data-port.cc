// SPDX-License-Identifier: GPL-2.0-only
#include "data-port.h"

#include "../fabric/fabric.h"
#include "queue-pair.h"
#include "roce-nic.h"

#include <algorithm>

namespace ns3
{

FrameSize
DataPort::SizeIfLate(uint8_t priority) const
{
    return m_ring[priority].NextSize();
}

Frame*
DataPort::NextFrame(uint8_t priority)
{
    QueuePair* queuePair = m_ring[priority].Serve();
    const RoceNic::Packet packet = m_nic.NextPacket(*queuePair);
    m_lastStarted = packet.message;
    m_lastDestination = queuePair->dst;
    Frame* frame = m_nic.BuildDataFrame(queuePair, packet);
    if (queuePair->ways != nullptr)
    {
        m_nic.TakeWay(*queuePair, *this, *frame);
        packet.message->sentEnd = std::max(packet.message->sentEnd,
                                           m_nic.m_fabric->Loop().Now() +
                                               m_nic.m_fabric->SerializationOn(m_port, *frame));
    }
    if (queuePair->isControlled)
    {
        m_nic.PacketStarted(queuePair, *frame);
    }
    else if (!m_nic.HasPacket(*queuePair))
    {
        m_nic.SetReady(queuePair, false);
        if (queuePair->isWatched) [[unlikely]]
        {
            m_nic.WatchHold(*queuePair);
        }
    }
    if (queuePair->isReady)
    {
        m_ring[priority].SetSizeOfServed(m_nic.SizeIfLate(*queuePair));
    }
    return frame;
}

void
DataPort::Resize(const QueuePair& queuePair)
{
    if (queuePair.isReady)
    {
        m_ring[queuePair.priority].SetSize(queuePair.ringKey, m_nic.SizeIfLate(queuePair));
        m_nic.m_fabric->Replan(m_port);
    }
}

void
DataPort::LastFrameStarted(TimePs end)
{
    if (!m_lastStarted->isSent)
    {
        m_lastStarted->isSent = true;
        m_nic.LastPacketStarted(*m_lastStarted,
                                m_lastDestination,
                                std::max(end, m_lastStarted->sentEnd));
    }
}

void
DataPort::Insert(QueuePair* queuePair)
{
    m_ring[queuePair->priority].Insert(queuePair, queuePair->ringKey, m_nic.SizeIfLate(*queuePair));
    m_ready |= 1U << queuePair->priority;
    m_nic.m_fabric->Kick(m_port);
}

void
DataPort::Remove(QueuePair* queuePair)
{
    ReadyRing& ring = m_ring[queuePair->priority];
    ring.Remove(queuePair->ringKey);
    if (ring.IsEmpty())
    {
        m_ready &= ~(1U << queuePair->priority);
    }
    m_nic.m_fabric->Replan(m_port);
}

} // namespace ns3
