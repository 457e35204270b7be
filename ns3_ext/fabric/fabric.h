// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FABRIC_H
#define ASTRA_FABRIC_H

#include "../core/event-loop.h"
#include "../core/member-handler.h"
#include "../core/slab.h"
#include "fabric-switch.h"
#include "frame.h"
#include "next-hop.h"
#include "platform-description.h"
#include "port.h"

#include "ns3/object.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{

class FrameWatch;

/// A priority of a channel's transmitter was paused.
struct PauseEpisode
{
    ChannelId channel;
    uint8_t priority;
    TimePs start; ///< The PAUSE frame acts.
    TimePs end;   ///< A RESUME acts or the quanta are over; NEVER_PS while it lasts.
};

/// What the frames of a run are like, beside what each says of itself.
struct FrameFigures
{
    uint32_t largestLineBytes{0};   ///< Of any frame on Ethernet.
    uint32_t dataGap{0};            ///< Line bytes of a data frame that no buffer holds.
    uint32_t ackGap{0};             ///< The same of ACKs and NAKs.
    uint32_t prioritiesInUse{0xff}; ///< Bit p is set for each priority that may come.
    bool isAckClassShared{false};   ///< ACKs go on in the class of their data.
};

/**
 * All ports, links and forwarding of a platform.
 *
 * A frame's life is one walk: Inject, or a source's NextFrame -> Transmit -> Fly -> Deliver ->
 * PassOn -> Enter -> Transmit -> ... -> the sink of its last node. The arrival at a node is its
 * one event of a hop; what it does at a port is caught up with (docs/adr/0025).
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
     * @param seed The run's seed, for losses and marks.
     */
    void Build(const PlatformDescription& platform, EventLoop& loop, uint64_t seed);

    /**
     * Give the forwarding nodes their switches' parameters; may be called again before a run.
     *
     * @param switches By node; null where a node does not forward.
     * @param figures What the frames of the run are like.
     * @throws ConfigError when a parameter does not fit a port.
     */
    void Configure(const std::vector<Ptr<FabricSwitch>>& switches, const FrameFigures& figures);

    /// Frames that end at a rank go to its sink.
    void SetSink(RankId rank, FrameSink& sink);

    /// Data of a port that does not wait in its queues; before Configure.
    void SetSource(ChannelId port, FrameSource& source);

    /// Whose the segments are.
    void SetSegmentOwner(SegmentOwner& owner)
    {
        m_segmentOwner = &owner;
    }

    /// Who knows the way of frames without a path.
    void SetNextHop(NextHop& nextHop)
    {
        m_nextHop = &nextHop;
    }

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
        return FrameTime(m_ports[port], m_ports[port].LineBytes(frame));
    }

    /// Most time that frames have had to wait in a port's queues so far.
    TimePs LargestBacklog(ChannelId port)
    {
        Advance(port);
        return SerializationTime(m_ports[port].MaxQueueBytes(), m_ports[port].rate, m_rounding);
    }

    /// Bytes that have left on a port's wire up to this very instant, part of a frame included.
    ByteCount SentLineBytes(ChannelId port)
    {
        Advance(port);
        return m_ports[port].SentLineBytes(m_loop->Now());
    }

    /// Most frame bytes that waited for a port or were being sent since the last call; counts anew.
    ByteCount TakeMaxQueue(ChannelId port)
    {
        Advance(port);
        return m_ports[port].TakeMaxQueue(m_loop->Now());
    }

    /// What a channel has carried so far.
    ChannelCounters CountersOf(ChannelId channel) const
    {
        ChannelCounters counters = m_ports[channel].counters;
        counters.maxQueueBytes = m_ports[channel].MaxQueueBytes();
        return counters;
    }

    /// Frame bytes that wait for a port or are being sent there.
    ByteCount QueuedBytes(ChannelId port)
    {
        Advance(port);
        const Port& p = m_ports[port];
        return p.waitingBytes + (p.busyUntil > m_loop->Now() ? p.sendingBytes : 0);
    }

    /// Whether a frame of a priority can be lost on a channel, or by the buffer at its end.
    bool CanLose(ChannelId channel, uint8_t priority) const;

    /// Let all ports do what they have done by now; before their state is read.
    void AdvanceAll();

    /// Let a port do what it has done by now; before what it sends from is read or changed.
    void Advance(ChannelId id)
    {
        const Port& port = m_ports[id];
        if (port.isPickPending || !port.coming.IsEmpty())
        {
            CatchUp(id);
        }
    }

    /// A port's source offers otherwise than before, though it was ready already.
    void Replan(ChannelId id);

    /// A port; what changes with time is as of its last Advance.
    const Port& GetPort(ChannelId port) const
    {
        return m_ports[port];
    }

    void SetDevice(ChannelId port, FabricDevice& device)
    {
        m_ports[port].device = &device;
    }

    /// Frames of the ports that it watches are told to it; it must outlive the run.
    void SetWatch(FrameWatch& watch)
    {
        m_watch = &watch;
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

    /// All pauses; one that lasts still has the end NEVER_PS.
    std::vector<PauseEpisode> TakePauses();

    /// Pauses that were too many to be kept.
    uint64_t UnlistedPauses() const
    {
        return m_unlistedPauses;
    }

    /// Timers of pauses that are events of the loop now.
    uint64_t PauseTimers() const
    {
        return m_pauseTimers;
    }

    /// Releases that are events of the loop now.
    uint64_t ReleaseEvents() const
    {
        return m_releaseEvents;
    }

    /// Looks at ports that are events of the loop now; they may find nothing to do.
    uint64_t PortEvents() const
    {
        return m_portEvents;
    }

    /// Most bytes that a node's buffer has held at a time; 0 where it has none.
    ByteCount MaxHeld(NodeIndex node) const
    {
        return m_buffers[node] ? m_buffers[node]->MaxHeld() : 0;
    }

    /// Bytes of a node's buffer; 0 where it has none or one without limit.
    ByteCount BufferSize(NodeIndex node) const
    {
        return m_buffers[node] ? m_buffers[node]->Size() : 0;
    }

    /// Bytes that all buffers hold.
    ByteCount Held();

    /// Paused channels that wait for each other for ever; empty unless the run ended for that.
    const std::vector<ChannelId>& DeadlockedChannels() const
    {
        return m_deadlocked;
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
    // What ports have done by now, and when they are looked at (fabric-ports.cc).
    void CatchUp(ChannelId port);
    void EnterFromAfar(ChannelId id, Port& port, const TimedFrame& entry);
    void Rearm(ChannelId id, Port& port);
    void Wake(uint64_t port);
    void PickIsDue(uint64_t port);
    void EntryIsDue(uint64_t port);
    void PlanPick(ChannelId id, Port& port, TimePs now);
    bool MayPickLate(Port& port) const;
    TimePs LatestPick(const Port& port) const;
    void Pick(ChannelId id, Port& port, TimePs now);
    void ScheduleWake(ChannelId id, Port& port, TimePs time);
    void SchedulePick(ChannelId id, Port& port, TimePs time);
    void ScheduleEntry(ChannelId id, const TimedFrame& entry);
    void BeTimely(ChannelId id);
    void RefreshTimeliness();

    /// Time of a frame on a port's wire; not none, so that two of one wire never end together.
    TimePs FrameTime(const Port& port, uint32_t lineBytes) const
    {
        const TimePs least = m_rounding == TimeRounding::NS_NEAREST ? PS_PER_NS : 1;
        return std::max(SerializationTime(lineBytes, port.rate, m_rounding), least);
    }

    /// Takes looks at ports, and knows before them what they will need.
    class WakeHandler final : public EventHandler
    {
      public:
        explicit WakeHandler(Fabric& fabric)
            : m_fabric(fabric)
        {
        }

        void HandleEvent(uint64_t port) override
        {
            m_fabric.Wake(port);
        }

        void Foresee(uint64_t port, unsigned step) const override
        {
            m_fabric.ForeseeWake(static_cast<ChannelId>(port), step);
        }

      private:
        Fabric& m_fabric;
    };

    void ForeseeWake(ChannelId id, unsigned step) const;

    // A frame's way (fabric-frames.cc).
    void Enqueue(ChannelId port, Frame* frame);
    void Enter(ChannelId id, Port& port, Frame* frame, TimePs now);
    TimePs Transmit(ChannelId channel, Port& port, Frame* frame, TimePs now);
    void LeaveNode(ChannelId channel, Port& port, Frame& frame, TimePs now);
    void Fly(ChannelId channel, Port& port, Frame* frame, TimePs now);
    void Deliver(ChannelId channel, Port& port, Frame* frame);
    void PassOn(const Port& port, Frame* frame);
    void Route(Frame* frame);
    void RouteLate(uint64_t frame);
    void CutThrough(uint64_t frame);
    void Free(Frame* frame);
    void LostFrameHasLeft(uint64_t frame);
    bool IsLost(ChannelId channel, const Port& port) const;
    bool EndsAtPeer(const Frame& frame, const Port& port) const;
    bool WouldCutThroughLater(const Port& port, const Frame& frame) const;
    uint32_t FrameBytes(const Frame& frame) const;
    bool CameByEthernet(const Frame& frame) const;
    static uint8_t ChoosePriority(Port& port, uint32_t eligible);
    void Mark(Port& port, Frame& frame, ByteCount depth);

    // Buffers (fabric-buffers.cc).
    bool Admit(Frame& frame);
    void HoldUntilSent(ChannelId egress, Port& port, Frame& frame);
    void ReleaseIsDue(uint64_t egress);
    void Settle(Port& egress);
    void SettleAll(SharedBuffer& buffer);
    static void ListUnsettled(ChannelId egress, Port& port);

    // Pauses (fabric-pauses.cc).
    void PauseIngress(ChannelId channel, uint8_t priority);
    void ResumeIngress(ChannelId channel, uint8_t priority);
    void SendPause(ChannelId channel, uint8_t priority, uint32_t quanta);
    void SchedulePauseEffect(ChannelId channel, const Port& port, Frame* frame);
    void PauseActs(uint64_t frame);
    void Unpause(ChannelId channel, uint8_t priority);
    void SetPausedMask(Port& port) const;
    void HoldAcks(Port& port) const;
    void PauseMayExpire(uint64_t channelAndPriority);
    void RefreshPause(uint64_t channelAndPriority);
    void LookForDeadlock();

    std::vector<Port> m_ports;
    std::vector<FrameSink*> m_sinks;                      ///< By rank.
    std::vector<NodeIndex> m_rankNode;                    ///< By rank.
    std::vector<bool> m_isRankNode;                       ///< By node.
    std::vector<std::unique_ptr<SharedBuffer>> m_buffers; ///< By node.
    std::vector<Ptr<FabricSwitch>> m_switches;            ///< By node.
    std::vector<PauseEpisode> m_pauses;
    std::vector<ChannelId> m_deadlocked;
    Slab<Frame> m_frames;
    Slab<FrameNotes> m_notes;
    EventLoop* m_loop{nullptr};
    NextHop* m_nextHop{nullptr};
    SegmentOwner* m_segmentOwner{nullptr};
    FrameWatch* m_watch{nullptr};
    WakeHandler m_wakes;
    MemberHandler<Fabric, &Fabric::PickIsDue> m_picks;
    MemberHandler<Fabric, &Fabric::EntryIsDue> m_entries;
    MemberHandler<Fabric, &Fabric::LostFrameHasLeft> m_losses;
    MemberHandler<Fabric, &Fabric::RouteLate> m_lateRoutes;
    MemberHandler<Fabric, &Fabric::CutThrough> m_cutThroughs;
    MemberHandler<Fabric, &Fabric::ReleaseIsDue> m_releases;
    MemberHandler<Fabric, &Fabric::PauseActs> m_pauseEffects;
    MemberHandler<Fabric, &Fabric::PauseMayExpire> m_pauseExpiries;
    MemberHandler<Fabric, &Fabric::RefreshPause> m_pauseRefreshes;
    FrameFigures m_figures;
    uint64_t m_lossStream{0};
    uint64_t m_ecnStream{0};
    uint64_t m_packetHops{0};
    uint64_t m_unlistedPauses{0};
    uint64_t m_pauseTimers{0};
    uint64_t m_releaseEvents{0};
    uint64_t m_portEvents{0};
    TimePs m_nextDeadlockCheck{0};
    TimeRounding m_rounding{TimeRounding::PS_CEIL};
    bool m_isDraining{false};
};

} // namespace ns3

#endif // ASTRA_FABRIC_H
