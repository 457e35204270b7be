// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_HOST_TRIAL_H
#define ASTRA_HOST_TRIAL_H

#include "../core/event-loop.h"
#include "host-stack.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ns3
{

/// A segment as a trial makes it.
struct TrialSegment
{
    uint32_t flow{0};
    uint32_t sequence{0};
    uint32_t payloadBytes{0};
    uint8_t flags{0}; ///< Of the TCP header.
    uint8_t ecn{0};   ///< Of the IPv4 header.
};

/// What a host did: when, and which of the things that it was asked for.
struct TrialMoment
{
    TimePs time{0};
    std::string what;   ///< "done" of work and copies, "sent" of segments, "received" of packets.
    uint64_t number{0}; ///< The argument, or the flow of a packet that came up.
    uint32_t bytes{0};  ///< Payload of a packet that came up.
};

/**
 * A machine's host stack alone, on a clock of its own: a list of things to do at their times, and
 * what became of them.
 */
class HostTrial : private EventHandler, private HostWorkDone, private HostReceiver
{
  public:
    /**
     * @param attributes Of ns3::HostStack, as text.
     * @param localRanks How many ranks the machine has.
     * @param seed The run's.
     * @throws ConfigError when an attribute or its value is unknown.
     */
    HostTrial(const std::map<std::string, std::string>& attributes,
              uint32_t localRanks,
              uint64_t seed);

    HostTrial(const HostTrial&) = delete;
    HostTrial& operator=(const HostTrial&) = delete;

    void Work(TimePs at, uint32_t core, CoreWork kind, uint64_t amount, uint64_t number);
    void Stage(TimePs at, uint32_t localRank, bool isOut, ByteCount bytes, uint64_t number);
    void Send(TimePs at, uint32_t core, const TrialSegment& segment, uint64_t number);
    void Receive(TimePs at, ChannelId port, uint32_t core, const TrialSegment& segment);

    /// Do it all; what came of it, in order.
    std::vector<TrialMoment> Run();

    const HostStack& Host() const
    {
        return *m_host;
    }

    uint64_t EventCount() const
    {
        return m_loop.EventCount();
    }

  private:
    struct SegmentsSent : HostWorkDone
    {
        explicit SegmentsSent(HostTrial& owner)
            : trial(owner)
        {
        }

        void WorkDone(uint64_t number) override;

        HostTrial& trial;
    };

    void HandleEvent(uint64_t action) override;
    void WorkDone(uint64_t number) override;
    void PacketCameUp(uint32_t flow, Ptr<Packet> packet, TimePs work) override;
    void CheckCore(uint32_t core) const;
    void Plan(TimePs at, std::function<void()> action);

    EventLoop m_loop;
    Ptr<HostStack> m_host;
    SegmentsSent m_segmentsSent;
    std::vector<std::function<void()>> m_actions;
    std::vector<TrialMoment> m_moments;
};

} // namespace ns3

#endif // ASTRA_HOST_TRIAL_H
