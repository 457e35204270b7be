// SPDX-License-Identifier: GPL-2.0-only
#include "fabric.h"

#include "../core/hash.h"
#include "fabric-device.h"
#include "frame-watch.h"

#include "ns3/enum.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(Fabric);

namespace
{

/// Keep the draws of losses and of marks apart from everything else that hashes the run's seed.
constexpr uint64_t LOSS_STREAM = 0x6c6f7373;
constexpr uint64_t ECN_STREAM = 0x65636e;

} // namespace

TypeId
Fabric::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Fabric")
            .SetParent<Object>()
            .SetGroupName("Fabric")
            .AddConstructor<Fabric>()
            .AddAttribute("TimeRounding",
                          "How a serialisation time becomes an integer: the next whole picosecond, "
                          "or the nearest whole nanosecond.",
                          EnumValue(TimeRounding::PS_CEIL),
                          MakeEnumAccessor<TimeRounding>(&Fabric::m_rounding),
                          MakeEnumChecker(TimeRounding::PS_CEIL,
                                          "ps_ceil",
                                          TimeRounding::NS_NEAREST,
                                          "ns_nearest"));
    return tid;
}

Fabric::Fabric()
    : m_wakes(*this),
      m_picks(*this),
      m_entries(*this),
      m_losses(*this),
      m_lateRoutes(*this),
      m_cutThroughs(*this),
      m_releases(*this),
      m_pauseEffects(*this),
      m_pauseExpiries(*this),
      m_pauseRefreshes(*this)
{
}

Fabric::~Fabric() = default;

void
Fabric::Build(const PlatformDescription& platform, EventLoop& loop, uint64_t seed)
{
    m_loop = &loop;
    m_lossStream = Mix64(seed ^ LOSS_STREAM);
    m_ecnStream = Mix64(seed ^ ECN_STREAM);
    m_sinks.assign(platform.Ranks(), nullptr);
    m_rankNode = platform.rankNode;
    m_isRankNode.assign(platform.Nodes(), false);
    for (const NodeIndex node : m_rankNode)
    {
        m_isRankNode[node] = true;
    }
    m_buffers.resize(platform.Nodes());
    m_ports.resize(platform.Channels());
    for (ChannelId channel = 0; channel < platform.Channels(); ++channel)
    {
        Port& port = m_ports[channel];
        port.node = platform.Transmitter(channel);
        port.peer = platform.Receiver(channel);
        port.rate = platform.Rate(channel);
        port.delay = platform.Delay(channel);
        port.efficiencyPpm = platform.EfficiencyPpm(channel);
        port.lossThreshold =
            static_cast<uint64_t>(std::ldexp(static_cast<long double>(platform.Loss(channel)), 64));
    }
}

void
Fabric::Configure(const std::vector<Ptr<FabricSwitch>>& switches, const FrameFigures& figures)
{
    m_switches = switches;
    m_figures = figures;
    for (NodeIndex node = 0; node < switches.size(); ++node)
    {
        const Ptr<FabricSwitch>& forwarder = switches[node];
        m_buffers[node] =
            forwarder && forwarder->Buffer().size != 0
                ? std::make_unique<SharedBuffer>(forwarder->Buffer(), figures.prioritiesInUse)
                : nullptr;
    }
    for (ChannelId channel = 0; channel < m_ports.size(); ++channel)
    {
        Port& port = m_ports[channel];
        const bool isEthernet = port.efficiencyPpm == 0;
        const Ptr<FabricSwitch>& own = switches[port.node];
        const Ptr<FabricSwitch>& next = switches[port.peer];
        port.peerLatency = next ? next->ForwardingLatency() : 0;
        port.ownBuffer = m_buffers[port.node].get();
        port.peerBuffer = isEthernet ? m_buffers[port.peer].get() : nullptr;
        port.peerCutThrough =
            isEthernet && next && next->CutsThrough() ? next->CutThroughHeader() : 0;
        if (port.peerBuffer != nullptr)
        {
            const ByteCount headroom =
                next->HeadroomOf(port.rate, port.delay, figures.largestLineBytes);
            port.peerIngress =
                port.peerBuffer->AddIngress(next->ReserveOf(figures.largestLineBytes), headroom);
        }
        port.extras = std::make_unique<PortExtras>();
        port.marksAtEnqueue = false;
        port.marksAtDequeue = false;
        if (isEthernet && own && own->MarksEcn())
        {
            EcnMarker& marker = port.extras->marker;
            std::tie(marker.kmin, marker.kmax) = own->EcnThresholds(port.rate);
            marker.pmax = own->EcnPmax();
            marker.stream = m_ecnStream;
            marker.port = channel;
            port.marksAtEnqueue = own->MarkAt() == EcnMarkAt::ENQUEUE;
            port.marksAtDequeue = own->MarkAt() == EcnMarkAt::DEQUEUE;
        }
        // An end's port shares its link as the switch at the far end does.
        const Ptr<FabricSwitch>& sharing = own ? own : next;
        if (isEthernet && sharing && sharing->Scheduling() == PriorityScheduling::DWRR)
        {
            port.extras->scheduler.emplace(sharing->Weights());
        }
    }
    RefreshTimeliness();
}

void
Fabric::SetSink(RankId rank, FrameSink& sink)
{
    m_sinks[rank] = &sink;
}

void
Fabric::SetSource(ChannelId port, FrameSource& source)
{
    m_ports[port].source = &source;
}

void
Fabric::RefreshTracing()
{
    for (ChannelId channel = 0; channel < m_ports.size(); ++channel)
    {
        Port& port = m_ports[channel];
        const bool isWatched = m_watch != nullptr && m_watch->Watches(channel);
        port.isTraced = port.device != nullptr && (isWatched || port.device->IsTraced());
    }
    RefreshTimeliness();
}

bool
Fabric::CanLose(ChannelId channel, uint8_t priority) const
{
    const Port& port = m_ports[channel];
    return port.lossThreshold != 0 ||
           (port.peerBuffer != nullptr &&
            !(port.peerBuffer->IsLossless(priority) && m_switches[port.peer]->HasCalculatedRoom()));
}

void
Fabric::StopWhenIdle()
{
    m_isDraining = true;
    if (m_frames.Live() == 0)
    {
        m_loop->Stop();
    }
}

void
Fabric::LostFrameHasLeft(uint64_t argument)
{
    Free(reinterpret_cast<Frame*>(argument));
}

void
Fabric::Free(Frame* frame)
{
    if (frame->notes != nullptr)
    {
        if (frame->kind == FrameKind::SEGMENT)
        {
            m_segmentOwner->SegmentIsOver(*frame->notes);
        }
        m_notes.Give(frame->notes);
    }
    m_frames.Give(frame);
    if (m_isDraining && m_frames.Live() == 0)
    {
        m_loop->Stop();
    }
}

} // namespace ns3
