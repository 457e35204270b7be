// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-switch.h"

#include "../core/errors.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/integer.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <charconv>
#include <optional>
#include <string_view>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FabricSwitch);

namespace
{

/// A pause quantum (IEEE 802.3, annex 31B; 802.1Qbb).
constexpr int64_t QUANTUM_BITS = 512;
/// Shorter pauses would fill the wire with their own refreshing: 8 priorities x 84 B, twice each.
constexpr uint32_t LEAST_PAUSE_QUANTA = 32;
constexpr ByteCount MOST_BYTES = ByteCount{1} << 50;

std::optional<int64_t>
ReadWhole(std::string_view text)
{
    int64_t value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool isWhole = result.ec == std::errc{} && result.ptr == text.data() + text.size();
    return isWhole && value >= 0 && value <= MOST_BYTES ? std::optional(value) : std::nullopt;
}

std::optional<BitRate>
ReadGigabits(std::string_view text)
{
    constexpr std::string_view unit = "Gbps";
    if (!text.ends_with(unit))
    {
        return std::nullopt;
    }
    text.remove_suffix(unit.size());
    double value = 0.0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool isNumber = result.ec == std::errc{} && result.ptr == text.data() + text.size();
    return isNumber && value > 0.0 && value < 1e6
               ? std::optional(BitRate(std::llround(value * 1e9)))
               : std::nullopt;
}

/// "400000", "100000/25Gbps" or "25Gbps=100000,100Gbps=400000", for a port of that rate.
ByteCount
ReadThreshold(const std::string& attribute, std::string_view text, BitRate rate)
{
    const auto refuse = [&](const std::string& why) {
        return ConfigError("ns3::FabricSwitch::" + attribute + " = \"" + std::string(text) +
                           "\": " + why);
    };
    const std::string form = "allowed are bytes, as \"400000\", bytes at a rate, as "
                             "\"100000/25Gbps\", or a list of rates, as \"25Gbps=100000,"
                             "100Gbps=400000\"";
    if (text.find('=') == std::string_view::npos)
    {
        const size_t slash = text.find('/');
        const auto bytes = ReadWhole(text.substr(0, slash));
        const auto perRate = slash == std::string_view::npos ? std::optional<BitRate>(rate)
                                                             : ReadGigabits(text.substr(slash + 1));
        if (!bytes || !perRate)
        {
            throw refuse(form);
        }
        return static_cast<ByteCount>(static_cast<Int128>(*bytes) * rate / *perRate);
    }
    std::string_view rest = text;
    while (!rest.empty())
    {
        const size_t comma = rest.find(',');
        const std::string_view entry = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
        const size_t equals = entry.find('=');
        const auto entryRate = ReadGigabits(entry.substr(0, equals));
        const auto bytes =
            equals == std::string_view::npos ? std::nullopt : ReadWhole(entry.substr(equals + 1));
        if (!entryRate || !bytes)
        {
            throw refuse(form);
        }
        if (*entryRate == rate)
        {
            return *bytes;
        }
    }
    throw refuse("it has no entry for a port of " + std::to_string(rate) + " bit/s");
}

} // namespace

TypeId
FabricSwitch::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricSwitch")
            .SetParent<Object>()
            .SetGroupName("Fabric")
            .AddConstructor<FabricSwitch>()
            .AddAttribute("ForwardingLatency",
                          "From a frame's last byte in to its first bit out, at the earliest.",
                          TimeValue(NanoSeconds(300)),
                          MakeTimeAccessor(&FabricSwitch::m_forwardingLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Buffer",
                          "Packet buffer that the ports share, in bytes; 0 for one without limit, "
                          "-1 for 32 MB beside what is reserved and headroom.",
                          IntegerValue(AUTO_BUFFER),
                          MakeIntegerAccessor(&FabricSwitch::m_buffer),
                          MakeIntegerChecker<int64_t>(AUTO_BUFFER, MOST_BYTES))
            .AddAttribute("Pfc",
                          "Whether priorities of LosslessMask are paused in place of dropping.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&FabricSwitch::m_isPfcOn),
                          MakeBooleanChecker())
            .AddAttribute("LosslessMask",
                          "Bit p is set for each priority that PFC keeps without loss.",
                          UintegerValue(0xff),
                          MakeUintegerAccessor(&FabricSwitch::m_losslessMask),
                          MakeUintegerChecker<uint32_t>(0, 0xff))
            .AddAttribute("PfcAlpha",
                          "A queue pauses above this share of the shared bytes that are free.",
                          DoubleValue(0.125),
                          MakeDoubleAccessor(&FabricSwitch::m_pfcAlpha),
                          MakeDoubleChecker<double>(0.0, 1024.0))
            .AddAttribute("Reserve",
                          "Bytes of its own of each ingress port and priority; -1 for a largest "
                          "frame and a PAUSE frame.",
                          IntegerValue(-1),
                          MakeIntegerAccessor(&FabricSwitch::m_reserve),
                          MakeIntegerChecker<int64_t>(-1, MOST_BYTES))
            .AddAttribute("Headroom",
                          "Bytes of each ingress port and lossless priority for what arrives after "
                          "its pause; -1 for 2 x delay x rate / 8 + 2 largest frames + the "
                          "response.",
                          IntegerValue(-1),
                          MakeIntegerAccessor(&FabricSwitch::m_headroom),
                          MakeIntegerChecker<int64_t>(-1, MOST_BYTES))
            .AddAttribute("XonOffset",
                          "A paused queue goes on this many bytes below the threshold of its "
                          "pause.",
                          UintegerValue(8388),
                          MakeUintegerAccessor(&FabricSwitch::m_xonOffset),
                          MakeUintegerChecker<uint64_t>(0, MOST_BYTES))
            .AddAttribute("PauseQuanta",
                          "Length of a pause that nobody ends, in quanta of 512 bit times.",
                          UintegerValue(65535),
                          MakeUintegerAccessor(&FabricSwitch::m_pauseQuanta),
                          MakeUintegerChecker<uint32_t>(LEAST_PAUSE_QUANTA, 65535))
            .AddAttribute("ResponseQuanta",
                          "From a PAUSE frame's last byte to its effect, in quanta of 512 bit "
                          "times.",
                          UintegerValue(60),
                          MakeUintegerAccessor(&FabricSwitch::m_responseQuanta),
                          MakeUintegerChecker<uint32_t>(0, 65535))
            .AddAttribute("EgressAlpha",
                          "A queue of a lossy priority holds at most this share of the shared "
                          "bytes that are free.",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&FabricSwitch::m_egressAlpha),
                          MakeDoubleChecker<double>(0.0, 1024.0))
            .AddAttribute("Ecn",
                          "Whether ECN-capable frames are marked.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&FabricSwitch::m_isEcnOn),
                          MakeBooleanChecker())
            .AddAttribute("EcnKmin",
                          "Queue above which some frames are marked, in bytes; \"B/RGbps\" scales "
                          "with the port's rate, \"RGbps=B,RGbps=B\" names it for each.",
                          StringValue("100000/25Gbps"),
                          MakeStringAccessor(&FabricSwitch::m_ecnKmin),
                          MakeStringChecker())
            .AddAttribute("EcnKmax",
                          "Queue above which all frames are marked; written as EcnKmin.",
                          StringValue("400000/25Gbps"),
                          MakeStringAccessor(&FabricSwitch::m_ecnKmax),
                          MakeStringChecker())
            .AddAttribute("EcnPmax",
                          "Probability of a mark at EcnKmax.",
                          DoubleValue(0.2),
                          MakeDoubleAccessor(&FabricSwitch::m_ecnPmax),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute(
                "EcnMarkAt",
                "Whether the queue is looked at when a frame comes or when it goes.",
                EnumValue(EcnMarkAt::ENQUEUE),
                MakeEnumAccessor<EcnMarkAt>(&FabricSwitch::m_markAt),
                MakeEnumChecker(EcnMarkAt::ENQUEUE, "enqueue", EcnMarkAt::DEQUEUE, "dequeue"))
            .AddAttribute("Scheduling",
                          "How a port chooses among the priorities below that of ACKs.",
                          EnumValue(PriorityScheduling::STRICT),
                          MakeEnumAccessor<PriorityScheduling>(&FabricSwitch::m_scheduling),
                          MakeEnumChecker(PriorityScheduling::STRICT,
                                          "strict",
                                          PriorityScheduling::DWRR,
                                          "dwrr"))
            .AddAttribute("Weights",
                          "Weights of priorities 0 to 6 under Scheduling dwrr.",
                          StringValue("1,1,1,1,1,1,1"),
                          MakeStringAccessor(&FabricSwitch::m_weights),
                          MakeStringChecker())
            .AddAttribute("CutThrough",
                          "Whether a frame may leave an idle port before its last byte is in.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FabricSwitch::m_cutsThrough),
                          MakeBooleanChecker())
            .AddAttribute("CutThroughHeader",
                          "Line bytes that must be in before a frame is forwarded that way.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&FabricSwitch::m_cutThroughHeader),
                          MakeUintegerChecker<uint32_t>(1, 9216));
    return tid;
}

FabricSwitch::FabricSwitch() = default;

FabricSwitch::~FabricSwitch() = default;

BufferFigures
FabricSwitch::Buffer() const
{
    BufferFigures figures;
    figures.size = m_buffer;
    figures.isPfcOn = m_isPfcOn;
    figures.losslessMask = m_losslessMask;
    figures.pfcAlpha = m_pfcAlpha;
    figures.egressAlpha = m_egressAlpha;
    figures.xonOffset = static_cast<ByteCount>(m_xonOffset);
    return figures;
}

ByteCount
FabricSwitch::HeadroomOf(BitRate rate, TimePs delay, uint32_t largestFrame) const
{
    if (m_headroom >= 0)
    {
        return m_headroom;
    }
    constexpr auto perByte = static_cast<Int128>(BITS_PER_BYTE) * PS_PER_S;
    const auto flight = (2 * static_cast<Int128>(delay) * rate + perByte - 1) / perByte;
    return static_cast<ByteCount>(flight) + 2 * static_cast<ByteCount>(largestFrame) +
           m_responseQuanta * QUANTUM_BITS / BITS_PER_BYTE;
}

ByteCount
FabricSwitch::ReserveOf(uint32_t largestFrame) const
{
    return m_reserve >= 0 ? m_reserve : largestFrame + PAUSE_LINE_BYTES;
}

TimePs
FabricSwitch::QuantaTime(uint32_t quanta, BitRate rate)
{
    const auto bits = static_cast<Int128>(quanta) * QUANTUM_BITS * PS_PER_S;
    return static_cast<TimePs>((bits + rate - 1) / rate);
}

std::pair<ByteCount, ByteCount>
FabricSwitch::EcnThresholds(BitRate rate) const
{
    const ByteCount kmin = ReadThreshold("EcnKmin", m_ecnKmin, rate);
    const ByteCount kmax = ReadThreshold("EcnKmax", m_ecnKmax, rate);
    if (kmin > kmax)
    {
        throw ConfigError("ns3::FabricSwitch::EcnKmin = \"" + m_ecnKmin +
                          "\" is above EcnKmax = \"" + m_ecnKmax + "\" for a port of " +
                          std::to_string(rate) + " bit/s");
    }
    return {kmin, kmax};
}

PriorityScheduler::Weights
FabricSwitch::Weights() const
{
    PriorityScheduler::Weights weights{};
    std::string_view rest = m_weights;
    for (size_t i = 0; i < weights.size(); ++i)
    {
        const size_t comma = rest.find(',');
        const auto weight = ReadWhole(rest.substr(0, comma));
        const bool isEndRight = (comma == std::string_view::npos) == (i + 1 == weights.size());
        if (!weight || *weight < 1 || *weight > 1'000'000 || !isEndRight)
        {
            throw ConfigError("ns3::FabricSwitch::Weights = \"" + m_weights +
                              "\": allowed are seven whole numbers from 1 to 1000000, of "
                              "priorities 0 to 6, with commas between");
        }
        weights[i] = static_cast<uint32_t>(*weight);
        rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    }
    return weights;
}

} // namespace ns3
