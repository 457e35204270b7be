// SPDX-License-Identifier: GPL-2.0-only
#include "host-stack.h"

#include "../core/hash.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/integer.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(HostStack);

namespace
{

/// Random numbers of RSS: "rss".
constexpr uint64_t RSS_STREAM = 0x727373;

} // namespace

TypeId
HostStack::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::HostStack")
            .SetParent<Object>()
            .SetGroupName("Fabric")
            .AddConstructor<HostStack>()
            .AddAttribute("Cores",
                          "Cores of the machine that run its TCP/IP, each doing one thing after "
                          "another.",
                          UintegerValue(8),
                          MakeUintegerAccessor(&HostStack::m_coreCount),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("Rss",
                          "Which core a connection is on: by a hash of it, or its socket's number "
                          "modulo the cores.",
                          EnumValue(ReceiveSideScaling::HASH),
                          MakeEnumAccessor<ReceiveSideScaling>(&HostStack::m_rss),
                          MakeEnumChecker(ReceiveSideScaling::HASH,
                                          "hash",
                                          ReceiveSideScaling::SOCKET_INDEX,
                                          "socket_index"))
            .AddAttribute("PerMessage",
                          "Core time of a message at its sender, and again at its receiver.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&HostStack::m_perMessage),
                          MakeTimeChecker(Time(0), Seconds(1)))
            .AddAttribute("PerSegment",
                          "Core time of what is handed to the NIC at a time: a packet, or with Tso "
                          "up to 64 KiB.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&HostStack::m_perSegment),
                          MakeTimeChecker(Time(0), Seconds(1)))
            .AddAttribute("PerPacket",
                          "Core time of what comes from the NIC at a time: a packet, "
                          "acknowledgements among them, or with Gro the first of what was "
                          "merged.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&HostStack::m_perPacket),
                          MakeTimeChecker(Time(0), Seconds(1)))
            .AddAttribute("PerMergedPacket",
                          "Core time of each further packet that Gro merges into one.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&HostStack::m_perMergedPacket),
                          MakeTimeChecker(Time(0), Seconds(1)))
            .AddAttribute("CopyRate",
                          "Rate at which a core copies between application and socket, in bit/s; 0 "
                          "for copies that take no time.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&HostStack::m_copyRate),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Tso",
                          "Whether the NIC cuts segments of up to 64 KiB into packets.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&HostStack::m_hasTso),
                          MakeBooleanChecker())
            .AddAttribute("Gro",
                          "Whether packets of a connection that come up together are merged up to "
                          "64 KiB.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&HostStack::m_hasGro),
                          MakeBooleanChecker())
            .AddAttribute("RxDelay",
                          "From a packet's arrival at an empty receive queue to the interrupt that "
                          "brings up all that have come by then; 0 for an interrupt a packet.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&HostStack::m_rxDelay),
                          MakeTimeChecker(Time(0), MilliSeconds(10)))
            .AddAttribute(
                "RxFrames",
                "Packets in a receive queue that bring its interrupt forward; 0: none do.",
                UintegerValue(0),
                MakeUintegerAccessor(&HostStack::m_rxFrames),
                MakeUintegerChecker<uint32_t>(0, 65'535))
            .AddAttribute("Staging",
                          "Whether a message is copied from the accelerator's memory to the host's "
                          "before it is sent, and back after; auto: where the platform's way to "
                          "the NIC does not lead over a host already.",
                          EnumValue(HostStaging::NONE),
                          MakeEnumAccessor<HostStaging>(&HostStack::m_staging),
                          MakeEnumChecker(HostStaging::AUTO,
                                          "auto",
                                          HostStaging::NONE,
                                          "none",
                                          HostStaging::ALWAYS,
                                          "always"))
            .AddAttribute("StagingRate",
                          "Rate of these copies, of each accelerator and direction, in bit/s.",
                          UintegerValue(115'200'000'000),
                          MakeUintegerAccessor(&HostStack::m_stagingRate),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("StagingChunk",
                          "Part of a message that is copied, and handed on, at a time, in bytes.",
                          IntegerValue(524'288),
                          MakeIntegerAccessor(&HostStack::m_stagingChunk),
                          MakeIntegerChecker<ByteCount>(1))
            .AddTraceSource("Work",
                            "A core is given a piece of work.",
                            MakeTraceSourceAccessor(&HostStack::m_workTrace),
                            "ns3::HostStack::WorkTracedCallback")
            .AddTraceSource("Interrupt",
                            "A receive queue interrupts its core with packets that have come.",
                            MakeTraceSourceAccessor(&HostStack::m_interruptTrace),
                            "ns3::HostStack::InterruptTracedCallback");
    return tid;
}

HostStack::HostStack() = default;

HostStack::~HostStack() = default;

void
HostStack::DoDispose()
{
    m_queues.clear();
    m_offload.reset();
    m_cores.clear();
    m_stagings.clear();
    Object::DoDispose();
}

void
HostStack::Install(EventLoop& loop, uint32_t machine, uint32_t localRanks, uint64_t seed)
{
    m_loop = &loop;
    m_machine = machine;
    m_hashKey = Mix64(Mix64(seed ^ RSS_STREAM) ^ machine);
    m_costs.perPiece = {m_perMessage.GetTimeStep(),
                        m_perSegment.GetTimeStep(),
                        m_perPacket.GetTimeStep(),
                        0};
    m_costs.perMergedPacket = m_perMergedPacket.GetTimeStep();
    m_costs.copyRate = static_cast<BitRate>(m_copyRate);
    m_interrupts = {m_rxDelay.GetTimeStep(), m_rxFrames};
    m_offload.emplace(loop, m_hasTso);
    for (uint32_t core = 0; core < m_coreCount; ++core)
    {
        m_cores.emplace_back(loop, core, m_costs, m_workTrace);
    }
    for (uint32_t rank = 0; rank < localRanks; ++rank)
    {
        m_stagings.emplace_back(loop, static_cast<BitRate>(m_stagingRate));
    }
}

uint32_t
HostStack::CoreOf(uint64_t connection, uint32_t socketIndex) const
{
    if (m_rss == ReceiveSideScaling::SOCKET_INDEX)
    {
        return socketIndex % m_coreCount;
    }
    return ReduceHash(Mix64(m_hashKey ^ connection), m_coreCount);
}

bool
HostStack::HoldFrame(ChannelId port, uint32_t core, uint32_t flow, Ptr<Packet> packet)
{
    if (m_interrupts.delay == 0 && m_perPacket.IsZero())
    {
        m_cores[core].CountFree(CoreWork::PACKET);
        return false;
    }
    std::unique_ptr<InterruptModerator>& queue = m_queues[{port, core}];
    if (!queue)
    {
        InterruptListener& listener = *this;
        queue = std::make_unique<InterruptModerator>(*m_loop, m_interrupts, core, listener);
    }
    queue->Add(ReceivedPacket{flow, std::move(packet)});
    return true;
}

void
HostStack::InterruptCame(uint32_t core, const std::vector<ReceivedPacket>& batch)
{
    m_interruptTrace(core, static_cast<uint32_t>(batch.size()));
    for (const ReceivedPacket& unit : m_hasGro ? m_merger.Merge(batch) : batch)
    {
        BringUp(core, unit);
    }
}

void
HostStack::BringUp(uint32_t core, ReceivedPacket unit)
{
    const uint32_t packets = unit.packets;
    m_cores[core].Work(CoreWork::PACKET, packets, *this, m_units.Put(std::move(unit)));
}

void
HostStack::WorkDone(uint64_t unit)
{
    ReceivedPacket received = m_units.Take(unit);
    const TimePs work = m_costs.ServiceTime(CoreWork::PACKET, received.packets);
    m_receiver->PacketCameUp(received.flow, std::move(received.packet), work);
}

uint64_t
HostStack::PendingEvents() const
{
    uint64_t pending = 0;
    for (const NetworkingCore& core : m_cores)
    {
        pending += core.Pending();
    }
    for (const StagingEngine& staging : m_stagings)
    {
        pending += staging.Pending();
    }
    for (const auto& [place, queue] : m_queues)
    {
        pending += queue->Pending();
    }
    return pending;
}

void
HostStack::AddCores(CoreColumns& columns) const
{
    for (uint32_t core = 0; core < m_coreCount; ++core)
    {
        const WorkAccount& message = m_cores[core].Account(CoreWork::MESSAGE);
        const WorkAccount& segment = m_cores[core].Account(CoreWork::SEGMENT);
        const WorkAccount& packet = m_cores[core].Account(CoreWork::PACKET);
        const WorkAccount& copy = m_cores[core].Account(CoreWork::COPY);
        columns.machine.push_back(static_cast<int32_t>(m_machine));
        columns.core.push_back(static_cast<int32_t>(core));
        columns.busy.push_back(message.time + segment.time + packet.time + copy.time);
        columns.message.push_back(message.time);
        columns.segment.push_back(segment.time);
        columns.packet.push_back(packet.time);
        columns.copy.push_back(copy.time);
        columns.units.push_back(message.pieces + segment.pieces + packet.pieces + copy.pieces);
    }
}

} // namespace ns3
