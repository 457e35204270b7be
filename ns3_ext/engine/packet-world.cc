// SPDX-License-Identifier: GPL-2.0-only
#include "packet-world.h"

#include "../core/errors.h"
#include "../core/set-attribute.h"
#include "../fabric/fabric-device.h"
#include "../fabric/fabric-switch.h"
#include "../tcp/tcp-transport.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/integer.h"
#include "ns3/node-list.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace ns3
{

namespace
{

/// Undoes a hook when a run ends, however it ends.
class HookGuard
{
  public:
    explicit HookGuard(EventLoop& loop)
        : m_loop(loop)
    {
    }

    ~HookGuard()
    {
        m_loop.SetHook(nullptr);
    }

    HookGuard(const HookGuard&) = delete;
    HookGuard& operator=(const HookGuard&) = delete;

  private:
    EventLoop& m_loop;
};

} // namespace

bool PacketWorld::s_isAlive = false;

PacketWorld::PacketWorld(PlatformDescription platform,
                         const TransportFigures& figures,
                         RunOptions options)
    : m_platform(std::move(platform)),
      m_options(std::move(options))
{
    if (s_isAlive)
    {
        throw ConfigError("a packet simulation is already under way in this process: ns-3 has one "
                          "simulator, so close the other one first");
    }
    TakeSimulator();
    s_isAlive = true;
    m_isOpen = true;
    try
    {
        m_defaults.Apply(m_options.ns3Defaults);
        BuildNodes(figures);
    }
    catch (...)
    {
        Close();
        throw;
    }
}

PacketWorld::~PacketWorld()
{
    Close();
}

void
PacketWorld::Close()
{
    if (m_isRunning)
    {
        throw ConfigError("a packet simulation cannot be closed while it runs");
    }
    if (m_isOpen)
    {
        Simulator::Destroy(); // Calls SimulatorDestroyed.
    }
}

void
PacketWorld::SimulatorDestroyed()
{
    // Our call or a user's: what was built refers to a simulator that is going.
    m_isOpen = false;
    m_sampler.reset();
    m_capture.reset();
    m_router.reset();
    m_tcp.reset();
    m_transport.reset();
    m_nodes.clear();
    if (m_fabric)
    {
        m_fabric->Dispose();
        m_fabric = nullptr;
    }
    m_simulator = nullptr;
    m_defaults.Restore();
    s_isAlive = false;
}

void
PacketWorld::TakeSimulator()
{
    // Simulator::GetImplementation makes one of the kind that this global value names, unless the
    // process has one already.
    m_simulator = DynamicCast<FabricSimulatorImpl>(Simulator::GetImplementation());
    if (!m_simulator)
    {
        throw ConfigError("ns-3 already runs another simulator in this process: import astra_py "
                          "before anything uses it, or call ns.Simulator.Destroy() first");
    }
    EventLoop& loop = m_simulator->Loop();
    if (loop.Now() != 0 || !loop.IsEmpty() || NodeList::GetNNodes() != 0)
    {
        throw ConfigError(
            "ns-3's simulator is in use: build the packet simulation first and add to "
            "it, or call ns.Simulator.Destroy() before");
    }
    loop.SetEventLimit(m_options.maxEvents);
    loop.SetTimeLimit(m_options.maxTime);
    Simulator::ScheduleDestroy(&PacketWorld::SimulatorDestroyed, this);
}

void
PacketWorld::BuildNodes(const TransportFigures& figures)
{
    m_fabric = CreateObject<Fabric>();
    SetAttribute(m_fabric, "TimeRounding", EnumValue(figures.rounding));
    m_fabric->Build(m_platform, m_simulator->Loop(), m_options.seed);
    m_transport = std::make_unique<RoceTransport>(m_platform, m_options.seed);
    m_router = std::make_unique<PacketRouter>(m_platform,
                                              m_transport->Routes(),
                                              *m_fabric,
                                              m_options.seed);
    m_fabric->SetNextHop(*m_router);

    for (NodeIndex index = 0; index < m_platform.Nodes(); ++index)
    {
        const Ptr<Node> node = CreateObject<Node>();
        m_nodes.push_back(node);
        if (m_platform.nodeForwards[index] != 0)
        {
            const Ptr<FabricSwitch> forwarder = CreateObject<FabricSwitch>();
            SetAttribute(forwarder,
                         "ForwardingLatency",
                         TimeValue(TimeStep(static_cast<uint64_t>(m_platform.nodeLatency[index]))));
            node->AggregateObject(forwarder);
        }
    }
    for (ChannelId channel = 0; channel < m_platform.Channels(); ++channel)
    {
        const Ptr<FabricDevice> device = CreateObject<FabricDevice>();
        device->Attach(m_fabric, channel, m_platform.Loss(channel));
        m_nodes[m_platform.Transmitter(channel)]->AddDevice(device);
    }
    const Ptr<CongestionControl> control =
        figures.congestionControl.empty() ? nullptr
                                          : MakeCongestionControl(figures.congestionControl, {});
    for (RankId rank = 0; rank < m_platform.Ranks(); ++rank)
    {
        const Ptr<RoceNic> nic = BuildNic(figures, control);
        m_nodes[m_platform.rankNode[rank]]->AggregateObject(nic);
        nic->Install(rank, *m_fabric, *m_transport);
        m_transport->AddNic(nic);
    }
    if (figures.tcp)
    {
        BuildTcp(figures);
    }
    if (!m_options.capture.channels.empty())
    {
        m_capture = std::make_unique<PacketCapture>(m_options.capture,
                                                    *m_fabric,
                                                    *m_transport,
                                                    m_tcp.get(),
                                                    m_platform);
    }
    if (const WatchOptions& watch = m_options.watch; watch.isOn)
    {
        const auto limit = static_cast<size_t>(watch.maxRecords);
        m_frameWatch = std::make_unique<FrameWatch>(watch.spans, m_platform.Channels(), limit);
        m_queuePairWatch = std::make_unique<QueuePairWatch>(watch.messages, limit);
        m_fabric->SetWatch(*m_frameWatch);
        m_transport->SetWatch(*m_queuePairWatch, *m_frameWatch);
    }
    m_frameFigures = FrameFiguresOf(figures, control);
    RefreshFigures();
    if (m_options.linkBins > 0)
    {
        m_sampler = std::make_unique<ChannelSampler>(*m_fabric,
                                                     m_simulator->Loop(),
                                                     m_platform.Channels(),
                                                     m_options.linkBins);
    }
}

void
PacketWorld::BuildTcp(const TransportFigures& figures)
{
    m_tcp = std::make_unique<TcpTransport>(*figures.tcp,
                                           figures.host,
                                           TcpTransport::Surroundings{m_platform,
                                                                      *m_fabric,
                                                                      *m_simulator,
                                                                      *m_transport,
                                                                      m_options.seed,
                                                                      figures.sendLatency,
                                                                      figures.receiveLatency});
    for (RankId rank = 0; rank < m_platform.Ranks(); ++rank)
    {
        m_tcp->AddRank(m_nodes[m_platform.rankNode[rank]], m_transport->NicOf(rank));
    }
}

FrameFigures
PacketWorld::FrameFiguresOf(const TransportFigures& figures, const Ptr<CongestionControl>& control)
{
    FrameFigures frames;
    const LineFormat& format = figures.format;
    frames.largestLineBytes =
        std::max({format.DataLine(figures.payload, true), format.AckLine(), wire::CNP_LINE}) +
        (control ? control->TelemetryBytes() : 0);
    if (figures.tcp)
    {
        frames.largestLineBytes =
            std::max(frames.largestLineBytes, PacketLineBytes(figures.tcp->mtu));
    }
    frames.dataGap = format.headerBytes < 0 ? wire::PREAMBLE + wire::INTER_FRAME_GAP : 0;
    frames.ackGap = format.ackBytes < 0 ? wire::PREAMBLE + wire::INTER_FRAME_GAP : 0;
    frames.isAckClassShared = figures.isAckClassShared;
    return frames;
}

Ptr<RoceNic>
PacketWorld::BuildNic(const TransportFigures& figures, const Ptr<CongestionControl>& control)
{
    const Ptr<RoceNic> nic = CreateObject<RoceNic>();
    SetAttribute(nic, "Payload", UintegerValue(figures.payload));
    SetAttribute(nic, "HeaderSize", IntegerValue(figures.format.headerBytes));
    SetAttribute(nic, "AckSize", IntegerValue(figures.format.ackBytes));
    SetAttribute(nic, "AckPolicy", EnumValue(figures.ackPolicy));
    SetAttribute(nic, "AckEvery", UintegerValue(figures.ackEvery));
    SetAttribute(nic, "IsAckClassShared", BooleanValue(figures.isAckClassShared));
    SetAttribute(nic, "WindowPolicy", EnumValue(figures.windowPolicy));
    SetAttribute(nic, "Window", UintegerValue(figures.window));
    SetAttribute(nic, "QpsPerPeer", UintegerValue(figures.qpsPerPeer));
    if (control)
    {
        SetAttribute(nic, "CongestionControl", PointerValue(control));
    }
    SetAttribute(nic, "Timeout", TimeValue(TimeStep(static_cast<uint64_t>(figures.timeout))));
    SetAttribute(nic,
                 "SendLatency",
                 TimeValue(TimeStep(static_cast<uint64_t>(figures.sendLatency))));
    SetAttribute(nic,
                 "ReceiveLatency",
                 TimeValue(TimeStep(static_cast<uint64_t>(figures.receiveLatency))));
    return nic;
}

void
PacketWorld::RefreshFigures()
{
    // What a user changed through Config between construction and Run counts, too.
    std::vector<Ptr<FabricSwitch>> switches;
    for (const Ptr<Node>& node : m_nodes)
    {
        switches.push_back(node->GetObject<FabricSwitch>());
    }
    m_fabric->Configure(switches, m_frameFigures);
    m_fabric->RefreshTracing();
}

std::vector<uint32_t>
PacketWorld::NodeIds() const
{
    std::vector<uint32_t> ids;
    for (const Ptr<Node>& node : m_nodes)
    {
        ids.push_back(node->GetId());
    }
    return ids;
}

uint32_t
PacketWorld::Ranks() const
{
    return m_platform.Ranks();
}

EventLoop&
PacketWorld::Loop()
{
    if (!m_isOpen)
    {
        throw ConfigError("the packet simulation is closed");
    }
    return m_simulator->Loop();
}

MessageNetwork&
PacketWorld::Network()
{
    if (m_tcp)
    {
        return *m_tcp;
    }
    return *m_transport;
}

void
PacketWorld::UsePriorities(uint32_t mask)
{
    m_frameFigures.prioritiesInUse = mask | 1U << ACK_PRIORITY;
    RefreshFigures();
}

void
PacketWorld::Begin()
{
    if (!m_isOpen)
    {
        throw ConfigError("a packet simulation runs once; build another one");
    }
    RefreshFigures();
    m_fabric->KeepRunning();
}

LoopExit
PacketWorld::Run(const std::function<void()>& hook)
{
    EventLoop& loop = m_simulator->Loop();
    const HookGuard guard(loop);
    loop.SetHook([this, &loop, &hook] {
        m_mostPendingEvents = std::max(m_mostPendingEvents, loop.Pending());
        if (hook)
        {
            hook();
        }
    });
    m_isRunning = true;
    try
    {
        Simulator::Run();
    }
    catch (...)
    {
        m_isRunning = false;
        throw;
    }
    m_isRunning = false;
    if (m_capture)
    {
        m_capture->Flush();
    }
    return m_simulator->LastExit();
}

void
PacketWorld::StopWhenIdle()
{
    m_fabric->StopWhenIdle();
}

bool
PacketWorld::IsIdle() const
{
    return m_fabric->FramesInFlight() == 0;
}

void
PacketWorld::TakeLog(WatchLog& log)
{
    log.isFull = m_frameWatch->IsFull() || m_queuePairWatch->IsFull();
    log.frames = m_frameWatch->TakeFrames();
    log.queuePairs = m_queuePairWatch->TakeColumns();
}

void
PacketWorld::TakeBins(ChannelBins& bins)
{
    if (m_sampler)
    {
        bins = m_sampler->TakeBins();
    }
}

NicCounters
PacketWorld::CountersOf(RankId rank) const
{
    NicCounters counters = m_transport->CountersOf(rank);
    if (m_tcp)
    {
        counters.Add(m_tcp->CountersOf(rank));
    }
    return counters;
}

void
PacketWorld::TellConnections(RunOutcome& outcome) const
{
    constexpr size_t MOST_CONNECTIONS = 20; // Enough to see the pattern.
    std::vector<const TcpConnection*> unfinished = m_tcp->Unfinished();
    unfinished.resize(std::min(unfinished.size(), MOST_CONNECTIONS));
    for (const TcpConnection* connection : unfinished)
    {
        WaitingItem item;
        item.what = "connection";
        item.rank = static_cast<int32_t>(connection->sender.rank);
        item.blocker = static_cast<int32_t>(connection->receiver.rank);
        item.innerOp = static_cast<int32_t>(connection->number);
        item.isPosted = connection->opening != TcpOpening::FAILED;
        outcome.waiting.push_back(item);
    }
}

void
PacketWorld::Count(RunOutcome& outcome) const
{
    const EventLoop& loop = m_simulator->Loop();
    m_fabric->AdvanceAll();
    int64_t drops = 0;
    int64_t bufferDrops = 0;
    int64_t marks = 0;
    int64_t pauses = 0;
    for (ChannelId channel = 0; channel < m_platform.Channels(); ++channel)
    {
        const ChannelCounters counters = m_fabric->CountersOf(channel);
        outcome.AddChannel(counters);
        drops += counters.droppedFrames;
        bufferDrops += counters.bufferDrops;
        marks += counters.markedFrames;
        pauses += counters.pauses;
    }
    for (NodeIndex node = 0; node < m_platform.Nodes(); ++node)
    {
        outcome.nodeBufferBytes.push_back(m_fabric->BufferSize(node));
        outcome.nodeMaxBufferBytes.push_back(m_fabric->MaxHeld(node));
    }
    outcome.pauses = m_fabric->TakePauses();
    outcome.deadlockedChannels = m_fabric->DeadlockedChannels();
    if (!outcome.deadlockedChannels.empty())
    {
        outcome.exitReason = "deadlock";
    }
    for (RankId rank = 0; rank < m_platform.Ranks(); ++rank)
    {
        const NicCounters counters = CountersOf(rank);
        outcome.rankSentPayloadBytes.push_back(counters.sentPayloadBytes);
        outcome.rankReceivedPayloadBytes.push_back(counters.receivedPayloadBytes);
    }
    NicCounters total = m_transport->TotalCounters();
    uint64_t connections = m_transport->ConnectionCount();
    uint64_t hostEvents = 0;
    if (m_tcp)
    {
        outcome.cores = m_tcp->Cores();
        outcome.staging = m_tcp->Stagings();
        outcome.messagesAtHosts = m_tcp->Messages(outcome.messages.Size());
        outcome.sockets = m_tcp->Sockets();
        hostEvents = m_tcp->HostEvents();
        if (outcome.exitReason == "deadlock")
        {
            TellConnections(outcome);
        }
        total.Add(m_tcp->TotalCounters());
        connections += m_tcp->ConnectionCount();
    }
    outcome.counters["events"] = static_cast<int64_t>(loop.EventCount());
    // Timers that will find nothing due, acknowledgements of what was known already, and whatever a
    // user added may outlive the schedule.
    outcome.counters["events_left"] = static_cast<int64_t>(
        loop.Pending() - m_simulator->PendingNs3Events() - m_transport->ArmedTimers() -
        m_transport->AcksOnTheirWay() - m_fabric->PauseTimers() - m_fabric->ReleaseEvents() -
        m_fabric->PortEvents() - hostEvents);
    outcome.counters["most_pending_events"] = static_cast<int64_t>(m_mostPendingEvents);
    outcome.counters["frames_in_flight"] = static_cast<int64_t>(m_fabric->FramesInFlight());
    outcome.counters["packets"] = total.dataPackets;
    outcome.counters["packet_hops"] = static_cast<int64_t>(m_fabric->PacketHops());
    outcome.counters["dropped_frames"] = drops;
    outcome.counters["buffer_drops"] = bufferDrops;
    outcome.counters["marked_frames"] = marks;
    outcome.counters["pauses"] = pauses;
    outcome.counters["pauses_unlisted"] = static_cast<int64_t>(m_fabric->UnlistedPauses());
    outcome.counters["buffer_bytes_left"] = m_fabric->Held();
    outcome.counters["connections"] = static_cast<int64_t>(connections);
    outcome.counters["acks"] = total.acksSent;
    outcome.counters["naks"] = total.naksSent;
    outcome.counters["timeouts"] = total.timeouts;
    outcome.counters["repeated_packets"] = total.repeatedPackets;
    outcome.counters["duplicate_packets"] = total.duplicatePackets;
    outcome.counters["out_of_order_packets"] = total.outOfOrderPackets;
    outcome.counters["out_of_order_accepted"] = total.keptPackets;
    outcome.counters["selective_repeats"] = total.selectiveRepeats;
    outcome.counters["marked_packets"] = total.markedPackets;
    outcome.counters["cnps"] = total.cnpsSent;
    outcome.counters["flows_controlled"] = m_transport->ControlledFlows();
    outcome.controls = m_transport->ControlRecords(loop.Now());
    outcome.counters["flows_slowed"] = static_cast<int64_t>(outcome.controls.size());
    if (m_capture)
    {
        outcome.counters["captured_frames"] = m_capture->Frames();
        outcome.counters["frames_not_captured"] = m_capture->LeftOut();
    }
}

} // namespace ns3
