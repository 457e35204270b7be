// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FABRIC_H
#define ASTRA_FABRIC_H

#include "../core/event-loop.h"
#include "../core/member-handler.h"
#include "../core/slab.h"
#include "frame.h"
#include "platform-description.h"
#include "port.h"

#include "ns3/object.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * All ports, links and forwarding of a platform.
 *
 * A frame's life is one walk: Inject, or a source's NextFrame -> Transmit -> Arrive -> Enqueue ->
 * Transmit -> ... -> the sink of its last node. Switches store and forward; a frame may leave
 * a node its forwarding latency after its last byte came in.
 */
class Fabric : public Object
{
  public:
    static TypeId GetTypeId();

    Fabric();
    ~Fabric() override;

    /**
     * Make the ports.
     *
     * @param platform Checked; must outlive the fabric.
     * @param loop The run's clock; must outlive the fabric.
     * @param seed The run's seed, for losses.
     */
    void Build(const PlatformDescription& platform, EventLoop& loop, uint64_t seed);

    /// Frames that end at a rank go to its sink.
    void SetSink(RankId rank, FrameSink& sink);

    /// What the node at a channel's far end takes to forward a frame.
    void SetForwardingLatency(ChannelId channel, TimePs latency);

    /// Data of a port that does not wait in its queues.
    void SetSource(ChannelId port, FrameSource& source);

    /// A frame to fill in; it is the fabric's again once injected or returned by a source.
    Frame* NewFrame()
    {
        return m_frames.Take();
    }

    /// Room for what a frame carries beside itself; the fabric's again with the frame.
    FrameNotes* NewNotes()
    {
        return m_notes.Take();
    }

    /// Take back notes that a sink has kept.
    void Release(FrameNotes* notes)
    {
        m_notes.Give(notes);
    }

    /// Send a frame on its way from its first port; ACKs and whatever else a node makes itself.
    void Inject(Frame* frame)
    {
        if (frame->path != nullptr)
        {
            frame->channel = frame->path[0];
        }
        Enqueue(frame->channel, frame);
    }

    /// A port's source has become ready: let the port pick as soon as it may.
    void Kick(ChannelId port);

    /// Time that a frame takes on a port's wire.
    TimePs SerializationOn(ChannelId port, const Frame& frame) const
    {
        return SerializationTime(m_ports[port].LineBytes(frame), m_ports[port].rate, m_rounding);
    }

    /// Most time that frames have had to wait in a port's queues so far.
    TimePs LargestBacklog(ChannelId port) const
    {
        return SerializationTime(m_ports[port].counters.maxQueueBytes,
                                 m_ports[port].rate,
                                 m_rounding);
    }

    const Port& GetPort(ChannelId port) const
    {
        return m_ports[port];
    }

    void SetDevice(ChannelId port, FabricDevice& device)
    {
        m_ports[port].device = &device;
    }

    /// Look which devices somebody listens to; called when a run begins, and counts for all of it.
    void RefreshTracing();

    /// Frames that have not come to their end.
    size_t FramesInFlight() const
    {
        return m_frames.Live();
    }

    /// Frames sent on any channel.
    uint64_t PacketHops() const
    {
        return m_packetHops;
    }

    /// Stop the loop as soon as no frame is on its way.
    void StopWhenIdle();

    /// Do not stop it then, after all: there is more to come.
    void KeepRunning()
    {
        m_isDraining = false;
    }

    EventLoop& Loop()
    {
        return *m_loop;
    }

  private:
    void Enqueue(ChannelId port, Frame* frame);
    TimePs Transmit(ChannelId channel, Port& port, Frame* frame);
    void Arrive(uint64_t frame);
    void Pick(uint64_t port);
    void Free(Frame* frame);
    bool IsLost(ChannelId channel, const Port& port) const;

    std::vector<Port> m_ports;
    std::vector<FrameSink*> m_sinks; ///< By rank.
    Slab<Frame> m_frames;
    Slab<FrameNotes> m_notes;
    EventLoop* m_loop{nullptr};
    MemberHandler<Fabric, &Fabric::Arrive> m_arrivals;
    MemberHandler<Fabric, &Fabric::Pick> m_picks;
    uint64_t m_seed{0};
    uint64_t m_packetHops{0};
    TimeRounding m_rounding{TimeRounding::PS_CEIL};
    bool m_isDraining{false};
};

} // namespace ns3

#endif // ASTRA_FABRIC_H
