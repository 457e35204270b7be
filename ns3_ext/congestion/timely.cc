// SPDX-License-Identifier: GPL-2.0-only
#include "timely.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(Timely);

/// The sender's side of a flow.
class Timely::Flow : public FlowControl
{
  public:
    Flow(const Timely& control, const FlowFigures& figures)
        : m_control(control),
          m_lineRate(static_cast<double>(figures.lineRate)),
          m_minRate(std::min(static_cast<double>(control.m_minRate.GetBitRate()), m_lineRate)),
          m_serialization(
              SerializationTime(figures.packetLineBytes, figures.lineRate, TimeRounding::PS_CEIL)),
          m_rate(m_lineRate)
    {
    }

    void OnAck(const AckReport& report) override
    {
        m_ackedBytes += report.newlyAcked;
        if (report.roundTrip == NEVER_PS ||
            m_ackedBytes < static_cast<ByteCount>(m_control.m_segment))
        {
            return;
        }
        m_ackedBytes = 0;
        // Section 4.1: the time on the sender's own wire is none of the network's.
        CompleteSegment(static_cast<double>(report.roundTrip - m_serialization));
    }

    BitRate Rate() const override
    {
        return std::max<BitRate>(std::llround(m_rate), 1);
    }

    bool HasActed() const override
    {
        return m_hasActed;
    }

    std::vector<std::pair<std::string, double>> Inspect() const override
    {
        return {{"round_trip_ps", m_roundTrip},
                {"round_trip_difference_ps", m_difference},
                {"negative_gradients", m_negativeGradients}};
    }

  private:
    /// Algorithm 1, with the round trip of a segment, in picoseconds.
    void CompleteSegment(double roundTrip)
    {
        const double weight = m_control.m_gradientWeight;
        const double newDifference = m_hasRoundTrip ? roundTrip - m_roundTrip : 0;
        m_hasRoundTrip = true;
        m_roundTrip = roundTrip;
        m_difference = (1 - weight) * m_difference + weight * newDifference;
        const double gradient =
            m_difference / static_cast<double>(m_control.m_minRoundTrip.GetPicoSeconds());
        m_negativeGradients = gradient < 0 ? m_negativeGradients + 1 : 0;

        const double before = m_rate;
        const auto increase = static_cast<double>(m_control.m_additiveIncrease.GetBitRate());
        const auto high = static_cast<double>(m_control.m_highThreshold.GetPicoSeconds());
        if (roundTrip < static_cast<double>(m_control.m_lowThreshold.GetPicoSeconds()))
        {
            m_rate += increase;
        }
        else if (roundTrip > high)
        {
            m_rate *= 1 - m_control.m_decrease * (1 - high / roundTrip);
        }
        else if (gradient <= 0)
        {
            const bool isHyper = m_negativeGradients >= m_control.m_hyperAfter;
            m_rate += (isHyper ? m_control.m_hyperFactor : 1) * increase;
        }
        else
        {
            m_rate *= 1 - m_control.m_decrease * gradient;
        }
        m_rate = std::clamp(m_rate, m_minRate, m_lineRate);
        m_hasActed = m_hasActed || m_rate < before;
    }

    const Timely& m_control;
    const double m_lineRate;
    const double m_minRate;
    const TimePs m_serialization; ///< Of a full packet at line rate.
    double m_rate;
    ByteCount m_ackedBytes{0}; ///< Of the segment under way.
    bool m_hasRoundTrip{false};
    double m_roundTrip{0};
    double m_difference{0}; ///< Smoothed, between round trips.
    uint32_t m_negativeGradients{0};
    bool m_hasActed{false};
};

TypeId
Timely::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Timely")
            .SetParent<CongestionControl>()
            .SetGroupName("Congestion")
            .AddConstructor<Timely>()
            .AddAttribute("LowThreshold",
                          "Round trip T_low below which the rate always rises.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&Timely::m_lowThreshold),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("HighThreshold",
                          "Round trip T_high above which the rate always falls.",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&Timely::m_highThreshold),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("MinRoundTrip",
                          "Round trip that gradients are relative to.",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&Timely::m_minRoundTrip),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("GradientWeight",
                          "Weight alpha of the newest difference between round trips.",
                          DoubleValue(0.875),
                          MakeDoubleAccessor(&Timely::m_gradientWeight),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("Decrease",
                          "Factor beta of decreases.",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&Timely::m_decrease),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("AdditiveIncrease",
                          "What the rate rises by at a completion, delta.",
                          DataRateValue(DataRate("10Mbps")),
                          MakeDataRateAccessor(&Timely::m_additiveIncrease),
                          MakeDataRateChecker())
            .AddAttribute("HyperAfter",
                          "Completions with negative gradients in a row that make increases "
                          "larger.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Timely::m_hyperAfter),
                          MakeUintegerChecker<uint32_t>(1, 1000))
            .AddAttribute("HyperFactor",
                          "How many times larger they are, N.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Timely::m_hyperFactor),
                          MakeUintegerChecker<uint32_t>(1, 1000))
            .AddAttribute("Segment",
                          "Acknowledged payload that makes a completion, in bytes.",
                          UintegerValue(16'384),
                          MakeUintegerAccessor(&Timely::m_segment),
                          MakeUintegerChecker<uint64_t>(1, uint64_t{1} << 40))
            .AddAttribute("MinRate",
                          "Rate below which no flow is slowed.",
                          DataRateValue(DataRate("100Mbps")),
                          MakeDataRateAccessor(&Timely::m_minRate),
                          MakeDataRateChecker());
    return tid;
}

Timely::Timely() = default;

Timely::~Timely() = default;

std::unique_ptr<FlowControl>
Timely::NewFlow(const FlowFigures& figures) const
{
    return std::make_unique<Flow>(*this, figures);
}

} // namespace ns3
