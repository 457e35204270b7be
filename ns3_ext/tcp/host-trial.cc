// SPDX-License-Identifier: GPL-2.0-only
#include "host-trial.h"

#include "../core/errors.h"
#include "offload-unit.h"

#include "ns3/ipv4-header.h"
#include "ns3/string.h"
#include "ns3/tcp-header.h"

#include <utility>

namespace ns3
{

HostTrial::HostTrial(const std::map<std::string, std::string>& attributes,
                     uint32_t localRanks,
                     uint64_t seed)
    : m_host(CreateObject<HostStack>()),
      m_segmentsSent(*this)
{
    for (const auto& [name, text] : attributes)
    {
        if (!m_host->SetAttributeFailSafe(name, StringValue(text)))
        {
            throw ConfigError("ns3::HostStack has no attribute \"" + name + "\" that can be \"" +
                              text + "\"");
        }
    }
    m_host->Install(m_loop, 0, localRanks, seed);
    m_host->SetReceiver(*this);
}

void
HostTrial::Work(TimePs at, uint32_t core, CoreWork kind, uint64_t amount, uint64_t number)
{
    CheckCore(core);
    Plan(at, [=, this] { m_host->Work(core, kind, amount, *this, number); });
}

void
HostTrial::Stage(TimePs at, uint32_t localRank, bool isOut, ByteCount bytes, uint64_t number)
{
    if (localRank >= m_host->LocalRanks())
    {
        throw ConfigError("HostTrial: there is no rank " + std::to_string(localRank));
    }
    Plan(at, [=, this] {
        if (isOut)
        {
            m_host->StageOut(localRank, bytes, *this, number);
        }
        else
        {
            m_host->StageIn(localRank, bytes, *this, number);
        }
    });
}

void
HostTrial::Send(TimePs at, uint32_t core, const TrialSegment& segment, uint64_t number)
{
    CheckCore(core);
    Plan(at, [=, this] {
        m_host->SendSegment(core, segment.flow, segment.payloadBytes, m_segmentsSent, number);
    });
}

void
HostTrial::Receive(TimePs at, ChannelId port, uint32_t core, const TrialSegment& segment)
{
    CheckCore(core);
    if (segment.payloadBytes > LARGEST_OFFLOAD_UNIT)
    {
        throw ConfigError("HostTrial: a segment has at most " +
                          std::to_string(LARGEST_OFFLOAD_UNIT) + " bytes of payload");
    }
    TcpHeader tcp;
    tcp.SetSequenceNumber(SequenceNumber32(segment.sequence));
    tcp.SetFlags(segment.flags);
    Ipv4Header ip;
    ip.SetProtocol(6); // TCP.
    ip.SetEcn(static_cast<Ipv4Header::EcnType>(segment.ecn & 3));
    ip.SetPayloadSize(static_cast<uint16_t>(tcp.GetSerializedSize() + segment.payloadBytes));
    const auto packet = Create<Packet>(segment.payloadBytes);
    packet->AddHeader(tcp);
    packet->AddHeader(ip);
    Plan(at, [=, this] {
        if (!m_host->HoldFrame(port, core, segment.flow, packet))
        {
            PacketCameUp(segment.flow, packet, 0);
        }
    });
}

std::vector<TrialMoment>
HostTrial::Run()
{
    m_loop.Run();
    return std::exchange(m_moments, {});
}

void
HostTrial::HandleEvent(uint64_t action)
{
    m_actions[action]();
}

void
HostTrial::WorkDone(uint64_t number)
{
    m_moments.push_back({m_loop.Now(), "done", number, 0});
}

void
HostTrial::SegmentsSent::WorkDone(uint64_t number)
{
    trial.m_moments.push_back({trial.m_loop.Now(), "sent", number, 0});
}

void
HostTrial::PacketCameUp(uint32_t flow, Ptr<Packet> packet, TimePs)
{
    Ipv4Header ip;
    TcpHeader tcp;
    packet->RemoveHeader(ip);
    packet->RemoveHeader(tcp);
    const bool isWhole = ip.GetPayloadSize() == tcp.GetSerializedSize() + packet->GetSize();
    m_moments.push_back(
        {m_loop.Now(), isWhole ? "received" : "malformed", flow, packet->GetSize()});
}

void
HostTrial::CheckCore(uint32_t core) const
{
    if (core >= m_host->Cores())
    {
        throw ConfigError("HostTrial: there is no core " + std::to_string(core));
    }
}

void
HostTrial::Plan(TimePs at, std::function<void()> action)
{
    m_actions.push_back(std::move(action));
    m_loop.ScheduleTimer(at, *this, m_actions.size() - 1);
}

} // namespace ns3
