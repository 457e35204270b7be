// SPDX-License-Identifier: GPL-2.0-only
// Fabric and its switches' buffers: who is let in, and when the room goes back.
#include "fabric-device.h"
#include "fabric.h"

namespace ns3
{

bool
Fabric::Admit(Frame& frame)
{
    Port& ingress = m_ports[frame.ingress];
    SharedBuffer& buffer = *ingress.peerBuffer;
    const ByteCount bytes = FrameBytes(frame);
    ByteCount atEgress = 0; // Counts for lossy priorities only.
    if (!buffer.IsLossless(frame.priority))
    {
        Advance(frame.channel);
        atEgress = m_ports[frame.channel].Depth(frame.priority, m_loop->Now());
    }
    if (!buffer.IsWatched() &&
        !buffer.SurelyFits(ingress.peerIngress, frame.priority, bytes, atEgress))
    {
        SettleAll(buffer);
    }
    const SharedBuffer::Verdict verdict =
        buffer.Charge(ingress.peerIngress, frame.priority, bytes, atEgress);
    if (verdict == SharedBuffer::Verdict::PAUSES ||
        verdict == SharedBuffer::Verdict::DROPPED_PAUSES) [[unlikely]]
    {
        PauseIngress(frame.ingress, frame.priority);
    }
    if (verdict == SharedBuffer::Verdict::DROPPED ||
        verdict == SharedBuffer::Verdict::DROPPED_PAUSES) [[unlikely]]
    {
        ++ingress.counters.bufferDrops;
        if (ingress.isTraced)
        {
            ingress.device->NotifyBufferDrop(frame);
        }
        return false;
    }
    frame.isCharged = true;
    return true;
}

void
Fabric::HoldUntilSent(ChannelId egress, Port& port, Frame& frame)
{
    SharedBuffer& buffer = *m_ports[frame.ingress].peerBuffer;
    port.release = PendingRelease{frame.ingress, FrameBytes(frame), frame.priority};
    frame.isCharged = false;
    if (buffer.IsWatched())
    {
        ++m_releaseEvents;
        m_loop->ScheduleRelease(port.busyUntil, egress, m_releases);
    }
    else
    {
        ListUnsettled(egress, port);
    }
}

void
Fabric::ListUnsettled(ChannelId egress, Port& port)
{
    if (port.ownBuffer != nullptr && !port.isUnsettled)
    {
        port.isUnsettled = true;
        port.ownBuffer->unsettled.push_back(egress);
    }
}

void
Fabric::ReleaseIsDue(uint64_t egress)
{
    --m_releaseEvents;
    Port& port = m_ports[egress];
    if (port.release.ingress != NO_CHANNEL && port.busyUntil <= m_loop->Now())
    {
        Settle(port);
    }
}

void
Fabric::Settle(Port& egress)
{
    const PendingRelease release = egress.release;
    egress.release = PendingRelease{};
    Port& ingress = m_ports[release.ingress];
    if (ingress.peerBuffer->Release(ingress.peerIngress, release.priority, release.bytes))
    {
        ResumeIngress(release.ingress, release.priority);
    }
}

void
Fabric::SettleAll(SharedBuffer& buffer)
{
    size_t kept = 0;
    for (const ChannelId id : buffer.unsettled)
    {
        Port& port = m_ports[id];
        Advance(id);
        if (port.release.ingress != NO_CHANNEL && port.busyUntil <= m_loop->Now())
        {
            Settle(port);
        }
        if (port.release.ingress == NO_CHANNEL && port.waiting == 0 && port.coming.IsEmpty())
        {
            port.isUnsettled = false;
        }
        else
        {
            buffer.unsettled[kept++] = id;
        }
    }
    buffer.unsettled.resize(kept);
}

ByteCount
Fabric::Held()
{
    ByteCount held = 0;
    for (const std::unique_ptr<SharedBuffer>& buffer : m_buffers)
    {
        if (buffer)
        {
            SettleAll(*buffer);
            held += buffer->Held();
        }
    }
    return held;
}

} // namespace ns3
