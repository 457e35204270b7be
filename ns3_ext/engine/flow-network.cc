// SPDX-License-Identifier: GPL-2.0-only
#include "flow-network.h"

#include <algorithm>
#include <bit>

namespace ns3
{

namespace
{

/// Rates worked out between two calls of the hook: some milliseconds.
constexpr uint64_t HOOK_RATES = 1U << 16;

uint64_t
PairOf(const MessageRequest& request)
{
    return (static_cast<uint64_t>(request.src) << 32) | request.dst;
}

} // namespace

FlowNetwork::FlowNetwork(const PlatformDescription& platform,
                         const TransportFigures& figures,
                         EventLoop& loop,
                         uint64_t seed)
    : m_platform(platform),
      m_figures(figures),
      m_loop(loop),
      m_ways(platform, figures, seed),
      m_counters(platform.Channels()),
      m_sentBytes(platform.Ranks(), 0),
      m_receivedBytes(platform.Ranks(), 0),
      m_latencyHandler(*this),
      m_settleHandler(*this),
      m_endHandler(*this),
      m_deliveredHandler(*this),
      m_ackedHandler(*this)
{
    UsePriorities((1U << PRIORITIES) - 1);
}

void
FlowNetwork::UsePriorities(uint32_t mask)
{
    for (uint8_t priority = 0; priority < PRIORITIES; ++priority)
    {
        m_class[priority] = static_cast<uint8_t>(std::popcount(mask >> priority >> 1));
    }
    m_shares.emplace(m_platform, static_cast<uint32_t>(std::max(std::popcount(mask), 1)));
}

void
FlowNetwork::SetListener(MessageListener& listener)
{
    m_listener = &listener;
}

void
FlowNetwork::StopWhenIdle(bool isWanted)
{
    m_doesStopWhenIdle = isWanted;
    StopIfIdle();
}

void
FlowNetwork::Post(const MessageRequest& request)
{
    ++m_onTheirWay;
    if (m_figures.sendLatency == 0)
    {
        Submit(request);
        return;
    }
    const TimePs time = m_loop.Now() + m_figures.sendLatency;
    if (m_latent.empty() || m_latent.back().first != time)
    {
        m_loop.ScheduleTimer(time, m_latencyHandler, 0);
    }
    m_latent.emplace_back(time, request);
}

void
FlowNetwork::SendLatencyPassed(uint64_t)
{
    while (!m_latent.empty() && m_latent.front().first == m_loop.Now())
    {
        const MessageRequest request = m_latent.front().second;
        m_latent.pop_front();
        Submit(request);
    }
}

void
FlowNetwork::Submit(const MessageRequest& request)
{
    if (m_messages.size() <= request.id)
    {
        m_messages.resize(request.id + 1);
    }
    Peer& peer = m_peers[request.priority][PairOf(request)];
    LaneId lane = SelectLane(peer, request);
    const uint32_t payload = m_ways.Payload(m_way[m_lanes[lane].way].of);
    // As a RoceNic cuts it: contiguous parts of whole packets, the larger ones first.
    const ByteCount packets = LineFormat::PacketsOf(request.size, payload);
    const ByteCount parts =
        m_figures.isStriped ? std::min<ByteCount>(m_figures.qpsPerPeer, packets) : 1;
    const auto count = static_cast<uint32_t>(parts);
    m_messages[request.id] = Message{request, count, count, count};
    ByteCount rest = request.size;
    for (ByteCount part = 0; part < parts; ++part)
    {
        const ByteCount mine = packets / parts + (part < packets % parts ? 1 : 0);
        const ByteCount size = std::min(mine * payload, rest);
        rest -= size;
        SubmitPart(lane, request.id, size);
        if (part + 1 < parts)
        {
            lane = SelectLane(peer, request);
        }
    }
}

FlowNetwork::LaneId
FlowNetwork::SelectLane(Peer& peer, const MessageRequest& request)
{
    // Queue pairs are numbered as a RoceNic numbers them, since routes hash the number.
    if (m_figures.qpsPerPeer != 0 && peer.queuePairs == m_figures.qpsPerPeer)
    {
        return peer.lastUsed = m_lanes[peer.lastUsed].nextOfPeer;
    }
    const uint32_t number = peer.queuePairs++;
    const WayId way = FindWay(peer, request, number);
    if (m_figures.qpsPerPeer == 0 && !m_freeLanes.empty())
    {
        const LaneId lane = m_freeLanes.back();
        m_freeLanes.pop_back();
        m_lanes[lane] = Lane{.way = way};
        return lane;
    }
    const auto lane = static_cast<LaneId>(m_lanes.size());
    m_lanes.push_back(Lane{.nextOfPeer = lane, .way = way});
    if (m_figures.qpsPerPeer != 0 && number > 0)
    {
        std::swap(m_lanes[lane].nextOfPeer, m_lanes[peer.lastUsed].nextOfPeer);
    }
    return peer.lastUsed = lane;
}

FlowNetwork::WayId
FlowNetwork::FindWay(Peer& peer, const MessageRequest& request, uint32_t queuePair)
{
    FlowWay found = m_ways.Find(FlowIdentity{request.src, request.dst, queuePair});
    for (WayId way = peer.lastWay; way != NONE; way = m_way[way].nextOfPeer)
    {
        if (m_way[way].of == found)
        {
            return way;
        }
    }
    const WayId way = m_shares->AddBundle(m_ways.UsesOf(found, request.src, request.dst),
                                          m_class[request.priority]);
    m_way.push_back(Way{std::move(found), peer.lastWay});
    return peer.lastWay = way;
}

FlowNetwork::PartId
FlowNetwork::NewPart()
{
    if (m_freeParts.empty())
    {
        m_parts.emplace_back();
        return static_cast<PartId>(m_parts.size() - 1);
    }
    const PartId id = m_freeParts.back();
    m_freeParts.pop_back();
    m_parts[id] = Part{};
    return id;
}

void
FlowNetwork::SubmitPart(LaneId laneId, MessageId message, ByteCount size)
{
    const PartId id = NewPart();
    Part& part = m_parts[id];
    Lane& lane = m_lanes[laneId];
    part.message = message;
    part.lane = laneId;
    part.way = lane.way;
    part.size = size;
    if (lane.first != NONE)
    {
        m_parts[lane.last].next = id;
        lane.last = id;
        return;
    }
    lane.first = lane.last = id;
    Begin(id);
}

void
FlowNetwork::Begin(PartId id)
{
    const Part& part = m_parts[id];
    const ByteCount bytes = m_ways.FlowBytes(m_way[part.way].of, part.size);
    m_shares->Begin(part.way, id, bytes, m_loop.Now());
    SettleOnce();
}

/// Share out anew at the end of this instant.
void
FlowNetwork::SettleOnce()
{
    if (!m_isSettlePending)
    {
        m_isSettlePending = true;
        m_loop.SchedulePick(m_loop.Now(), 0, m_settleHandler);
    }
}

void
FlowNetwork::Settle(uint64_t)
{
    m_isSettlePending = false;
    m_shares->Settle(m_loop.Now());
    SetTimer();
    LetHookRun();
}

void
FlowNetwork::LetHookRun()
{
    if (m_hook && m_shares->GivenRates() - m_workAtHook >= HOOK_RATES)
    {
        m_workAtHook = m_shares->GivenRates();
        m_hook();
    }
}

/// Have a timer pending no later than the next end. Where flows got slower, it may be earlier.
void
FlowNetwork::SetTimer()
{
    const TimePs next = m_shares->NextEnd();
    if (next != NEVER_PS && (m_timers.empty() || next < m_timers.back()))
    {
        m_timers.push_back(next);
        m_loop.ScheduleTimer(next, m_endHandler, 0);
    }
}

} // namespace ns3
