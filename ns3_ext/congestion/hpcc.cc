// SPDX-License-Identifier: GPL-2.0-only
#include "hpcc.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(Hpcc);

namespace
{

/// U of a flow before its first measurement: it starts at line rate and fills its own link, as in
/// the simulator that the authors published.
constexpr double INITIAL_UTILIZATION = 1;

} // namespace

/// The sender's side of a flow. Windows are in line bytes, as the paper's are in bytes on links.
class Hpcc::Flow : public FlowControl
{
  public:
    Flow(const Hpcc& control, const FlowFigures& figures)
        : m_control(control),
          m_lineRate(figures.lineRate),
          m_baseRoundTrip(static_cast<double>(control.m_baseRoundTrip.IsZero()
                                                  ? figures.baseRoundTrip
                                                  : control.m_baseRoundTrip.GetPicoSeconds())),
          m_payloadShare(static_cast<double>(figures.payload) / figures.packetLineBytes),
          m_maxWindow(BytesInRoundTrip(static_cast<double>(figures.lineRate))),
          m_minWindow(
              std::min(BytesInRoundTrip(static_cast<double>(control.m_minRate.GetBitRate())),
                       m_maxWindow)),
          m_window(m_maxWindow),
          m_referenceWindow(m_maxWindow)
    {
    }

    void OnAck(const AckReport& report) override
    {
        if (report.telemetry.empty())
        {
            return;
        }
        // Of another way than the last, its ports cannot be compared (section 4.1, path ID).
        const bool isComparable =
            report.path == m_path && report.telemetry.size() == m_telemetry.size();
        if (isComparable && MeasureInFlight(report.telemetry))
        {
            const bool isNewRound = report.ackedPsn > m_roundEnd;
            ComputeWindow(isNewRound);
            m_roundEnd = isNewRound ? report.sentPsn : m_roundEnd;
        }
        m_path = report.path;
        m_telemetry.assign(report.telemetry.begin(), report.telemetry.end());
    }

    BitRate Rate() const override
    {
        const double rate = m_window * BITS_PER_BYTE * PS_PER_S / m_baseRoundTrip;
        return std::clamp<BitRate>(std::llround(rate), 1, m_lineRate);
    }

    ByteCount Window() const override
    {
        return std::max<ByteCount>(static_cast<ByteCount>(m_window * m_payloadShare), 1);
    }

    bool HasActed() const override
    {
        return m_hasActed;
    }

    std::vector<std::pair<std::string, double>> Inspect() const override
    {
        return {{"window_line_bytes", m_window},
                {"reference_window_line_bytes", m_referenceWindow},
                {"utilization", m_utilization},
                {"stage", m_stage}};
    }

  private:
    double BytesInRoundTrip(double rate) const
    {
        return rate * m_baseRoundTrip / BITS_PER_BYTE / PS_PER_S;
    }

    /// Algorithm 1, MeasureInflight; returns false where the stamps are no newer than the last.
    bool MeasureInFlight(std::span<const TelemetryHop> telemetry)
    {
        double most = 0;
        double mostTime = 0;
        for (size_t i = 0; i < telemetry.size(); ++i)
        {
            const TelemetryHop& now = telemetry[i];
            const TelemetryHop& before = m_telemetry[i];
            if (now.time <= before.time)
            {
                return false;
            }
            const auto time = static_cast<double>(now.time - before.time);
            const auto rate = static_cast<double>(now.rate);
            const auto queue = static_cast<double>(std::min(now.queueBytes, before.queueBytes));
            const auto sent = static_cast<double>(now.sentBytes - before.sentBytes);
            const double utilization =
                queue / (BytesInRoundTrip(rate)) + sent * BITS_PER_BYTE * PS_PER_S / time / rate;
            if (utilization > most)
            {
                most = utilization;
                mostTime = time;
            }
        }
        const double weight = std::min(mostTime, m_baseRoundTrip) / m_baseRoundTrip;
        m_utilization = (1 - weight) * m_utilization + weight * most;
        return true;
    }

    /// Algorithm 1, ComputeWind.
    void ComputeWindow(bool isNewRound)
    {
        const bool isMultiplicative =
            m_utilization >= m_control.m_targetUtilization || m_stage >= m_control.m_maxStage;
        const double factor =
            isMultiplicative ? m_utilization / m_control.m_targetUtilization : 1.0;
        m_window = m_referenceWindow / factor + static_cast<double>(m_control.m_additiveIncrease);
        m_window = std::clamp(m_window, m_minWindow, m_maxWindow);
        if (isNewRound)
        {
            m_stage = isMultiplicative ? 0 : m_stage + 1;
            m_referenceWindow = m_window;
        }
        m_hasActed = m_hasActed || m_window < m_maxWindow;
    }

    const Hpcc& m_control;
    const BitRate m_lineRate;
    const double m_baseRoundTrip; ///< T, in picoseconds.
    const double m_payloadShare;  ///< Of the line bytes of a full packet.
    const double m_maxWindow;     ///< What the line carries in T; a larger one means no more.
    const double m_minWindow;
    double m_window;          ///< W
    double m_referenceWindow; ///< W^c, of the last round trip.
    double m_utilization{INITIAL_UTILIZATION};
    uint32_t m_stage{0}; ///< Additive increases in a row.
    uint64_t m_roundEnd{0};
    uint64_t m_path{0};
    std::vector<TelemetryHop> m_telemetry; ///< Of the last ACK.
    bool m_hasActed{false};
};

TypeId
Hpcc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Hpcc")
            .SetParent<CongestionControl>()
            .SetGroupName("Congestion")
            .AddConstructor<Hpcc>()
            .AddAttribute("TargetUtilization",
                          "Utilization eta of the busiest link that is aimed at.",
                          DoubleValue(0.95),
                          MakeDoubleAccessor(&Hpcc::m_targetUtilization),
                          MakeDoubleChecker<double>(0.01, 1))
            .AddAttribute("MaxStage",
                          "Additive increases in a row after which one is multiplicative.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Hpcc::m_maxStage),
                          MakeUintegerChecker<uint32_t>(0, 1000))
            .AddAttribute("AdditiveIncrease",
                          "What the window rises by, W_AI, in line bytes.",
                          UintegerValue(80),
                          MakeUintegerAccessor(&Hpcc::m_additiveIncrease),
                          MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
            .AddAttribute("BaseRoundTrip",
                          "Round trip T over empty links; 0 for that of the flow's own way.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&Hpcc::m_baseRoundTrip),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("MinRate",
                          "Rate below which no flow is slowed.",
                          DataRateValue(DataRate("100Mbps")),
                          MakeDataRateAccessor(&Hpcc::m_minRate),
                          MakeDataRateChecker())
            .AddAttribute("TelemetrySize",
                          "Bytes of telemetry in a data packet.",
                          UintegerValue(42),
                          MakeUintegerAccessor(&Hpcc::m_telemetryBytes),
                          MakeUintegerChecker<uint32_t>(1, 1024));
    return tid;
}

Hpcc::Hpcc() = default;

Hpcc::~Hpcc() = default;

std::unique_ptr<FlowControl>
Hpcc::NewFlow(const FlowFigures& figures) const
{
    return std::make_unique<Flow>(*this, figures);
}

} // namespace ns3
