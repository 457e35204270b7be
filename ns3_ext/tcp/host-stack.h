// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_HOST_STACK_H
#define ASTRA_HOST_STACK_H

#include "host-figures.h"
#include "interrupt-moderator.h"
#include "networking-core.h"
#include "offload-unit.h"
#include "receive-merger.h"
#include "segmentation-offload.h"
#include "slot-store.h"
#include "staging-engine.h"
#include "tcp-columns.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"
#include "ns3/traced-callback.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace ns3
{

/// Who takes packets that a host has brought up from its NIC: IP.
class HostReceiver
{
  public:
    /**
     * @param flow The end of a connection that sent it.
     * @param packet From its IPv4 header on; several of that end's in one, where they were merged.
     * @param work Time that it took of its core.
     */
    virtual void PacketCameUp(uint32_t flow, Ptr<Packet> packet, TimePs work) = 0;

  protected:
    ~HostReceiver() = default;
};

/**
 * What TCP/IP costs a machine: the cores that run it, the offloads of its NICs, and the copies
 * between the memories of its accelerators and its own.
 *
 * ns-3's TCP takes no time. Here, what its host does for it does: the transport asks for each piece
 * of work, and goes on when it is done. A part that costs nothing is done at once and makes no
 * event, so that with an ideal host the network's times are untouched.
 */
class HostStack : public Object, private InterruptListener, private HostWorkDone
{
  public:
    /// A piece of work for a core, of enum CoreWork, and the time that it takes, in ps.
    typedef void (*WorkTracedCallback)(uint32_t core, uint8_t kind, int64_t service);
    /// An interrupt of a core, and the packets that it brings up.
    typedef void (*InterruptTracedCallback)(uint32_t core, uint32_t packets);

    static TypeId GetTypeId();

    HostStack();
    ~HostStack() override;

    /**
     * Put it into a machine; once, after its attributes have their values.
     *
     * @param loop The run's clock.
     * @param machine Number of the machine.
     * @param localRanks How many ranks are in it.
     * @param seed The run's.
     */
    void Install(EventLoop& loop, uint32_t machine, uint32_t localRanks, uint64_t seed);

    /// Who takes what comes up from HoldFrame; it must outlive the run.
    void SetReceiver(HostReceiver& receiver)
    {
        m_receiver = &receiver;
    }

    /// What tells connections apart, in every run alike: below 2^24 ranks, 8 priorities, 2^12
    /// sockets.
    static constexpr uint64_t ConnectionKey(RankId src,
                                            RankId dst,
                                            uint8_t priority,
                                            uint32_t socketIndex)
    {
        return static_cast<uint64_t>(src) << 39 | static_cast<uint64_t>(dst) << 15 |
               static_cast<uint64_t>(priority) << 12 | socketIndex;
    }

    /**
     * The core that a connection is on at this machine (RSS).
     *
     * @param connection Its ConnectionKey.
     * @param socketIndex Its number among those of the same peer.
     */
    uint32_t CoreOf(uint64_t connection, uint32_t socketIndex) const;

    /**
     * Have a core do some work after all that it was given before.
     *
     * @param core One of CoreOf's.
     * @param kind What for.
     * @param amount As of CoreCosts::ServiceTime.
     * @param done Told when it is done: now, if it takes no time.
     * @param argument For done.
     * @return Time that it takes of the core.
     */
    TimePs Work(uint32_t core,
                CoreWork kind,
                uint64_t amount,
                HostWorkDone& done,
                uint64_t argument)
    {
        return m_cores[core].Work(kind, amount, done, argument);
    }

    /// Time that work takes of a core.
    TimePs ServiceTime(CoreWork kind, uint64_t amount) const
    {
        return m_costs.ServiceTime(kind, amount);
    }

    /// Most payload that is handed to the NIC at a time, in whole segments.
    uint32_t SendUnit(uint32_t segmentBytes) const
    {
        const uint32_t segments = m_hasTso ? LARGEST_OFFLOAD_UNIT / segmentBytes : 1;
        return std::max(segments, 1U) * segmentBytes;
    }

    /// SEGMENT work for a segment with payload that TCP hands down; see SegmentationOffload::Send.
    TimePs SendSegment(uint32_t core,
                       uint32_t flow,
                       uint32_t payloadBytes,
                       HostWorkDone& done,
                       uint64_t argument)
    {
        return m_offload->Send(m_cores[core], flow, payloadBytes, done, argument);
    }

    /**
     * A packet has come to a NIC: it waits for an interrupt, and for PACKET work of its core.
     *
     * @param port The channel that it came by.
     * @param core Of its connection.
     * @param flow The end of the connection that sent it.
     * @param packet From its IPv4 header on, as it came up the wire.
     * @return False where nothing holds it: it is the caller's to hand up, now. Else the receiver
     *         gets it.
     */
    bool HoldFrame(ChannelId port, uint32_t core, uint32_t flow, Ptr<Packet> packet);

    /**
     * Whether the messages of a connection are staged here.
     *
     * @param isOverHost Whether the platform's way between accelerator and NIC leads over a host.
     */
    bool IsStaged(bool isOverHost) const
    {
        return m_staging == HostStaging::ALWAYS || (m_staging == HostStaging::AUTO && !isOverHost);
    }

    /// Most bytes of a message that are copied, and handed on, at a time.
    ByteCount StagingChunk() const
    {
        return m_stagingChunk;
    }

    /// Copy from an accelerator to the host, after all that it was given before.
    void StageOut(uint32_t localRank, ByteCount bytes, HostWorkDone& done, uint64_t argument)
    {
        m_stagings[localRank].StageOut(bytes, done, argument);
    }

    /// Copy from the host to an accelerator, after all that it was given before.
    void StageIn(uint32_t localRank, ByteCount bytes, HostWorkDone& done, uint64_t argument)
    {
        m_stagings[localRank].StageIn(bytes, done, argument);
    }

    /// What a packet waits for its interrupt, at most.
    TimePs InterruptDelay() const
    {
        return m_interrupts.delay;
    }

    uint32_t LocalRanks() const
    {
        return static_cast<uint32_t>(m_stagings.size());
    }

    uint32_t Cores() const
    {
        return m_coreCount;
    }

    const NetworkingCore& Core(uint32_t core) const
    {
        return m_cores[core];
    }

    /// What an accelerator copied.
    const StagingEngine& Staging(uint32_t localRank) const
    {
        return m_stagings[localRank];
    }

    /// Its events that are in the loop now.
    uint64_t PendingEvents() const;

    /// A row for each of its cores.
    void AddCores(CoreColumns& columns) const;

  private:
    void DoDispose() override;
    void InterruptCame(uint32_t core, const std::vector<ReceivedPacket>& batch) override;
    void WorkDone(uint64_t unit) override;
    void BringUp(uint32_t core, ReceivedPacket unit);

    // Attributes.
    uint32_t m_coreCount{0};
    ReceiveSideScaling m_rss{ReceiveSideScaling::HASH};
    Time m_perMessage;
    Time m_perSegment;
    Time m_perPacket;
    Time m_perMergedPacket;
    uint64_t m_copyRate{0};
    bool m_hasTso{false};
    bool m_hasGro{false};
    Time m_rxDelay;
    uint32_t m_rxFrames{0};
    HostStaging m_staging{HostStaging::NONE};
    uint64_t m_stagingRate{0};
    ByteCount m_stagingChunk{0};

    // Place.
    EventLoop* m_loop{nullptr};
    uint32_t m_machine{0};
    uint64_t m_hashKey{0}; ///< Of RSS.
    HostReceiver* m_receiver{nullptr};

    CoreCosts m_costs;
    InterruptFigures m_interrupts;
    std::deque<NetworkingCore> m_cores;
    std::deque<StagingEngine> m_stagings; ///< Of each local rank.
    std::optional<SegmentationOffload> m_offload;
    /// By port and core.
    std::map<std::pair<ChannelId, uint32_t>, std::unique_ptr<InterruptModerator>> m_queues;
    ReceiveMerger m_merger;
    SlotStore<ReceivedPacket> m_units; ///< Wait for PACKET work.

    CoreWorkTrace m_workTrace;
    TracedCallback<uint32_t, uint32_t> m_interruptTrace;
};

} // namespace ns3

#endif // ASTRA_HOST_STACK_H
