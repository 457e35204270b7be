// SPDX-License-Identifier: GPL-2.0-only
#include "dcqcn.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(Dcqcn);

namespace
{

/// Alpha of a flow that had no CNP yet (SIGCOMM 2015, section 3.1).
constexpr double INITIAL_ALPHA = 1;

/// A power by repeated squaring: the same bits wherever it is computed.
double
Power(double base, int64_t exponent)
{
    double power = 1;
    for (; exponent > 0; exponent /= 2)
    {
        if (exponent % 2 != 0)
        {
            power *= base;
        }
        base *= base;
    }
    return power;
}

} // namespace

/**
 * The reaction point of a flow.
 *
 * A flow at line rate has nothing to recover, so it has no timer and counts no bytes; alpha is
 * worked out when it is needed.
 */
class Dcqcn::Flow : public FlowControl
{
  public:
    Flow(const Dcqcn& control, const FlowFigures& figures)
        : m_control(control),
          m_lineRate(static_cast<double>(figures.lineRate)),
          m_minRate(std::min(static_cast<double>(control.m_minRate.GetBitRate()), m_lineRate)),
          m_rate(m_lineRate),
          m_targetRate(m_lineRate)
    {
    }

    void OnCnp(TimePs now) override
    {
        // A timer of this very instant comes after what arrives in it.
        UpdateAlpha(now - 1);
        if (m_control.m_alphaUpdate == AlphaUpdate::PER_INTERVAL)
        {
            m_isCnpNoted = true;
            m_alphaTime = m_alphaTime == NEVER_PS ? now : m_alphaTime;
        }
        if (m_lastCut != NEVER_PS && now < NextCut())
        {
            m_isCutDue = true;
            return;
        }
        Cut(now);
    }

    void OnSent(TimePs /* now */, uint32_t lineBytes) override
    {
        const auto every = static_cast<ByteCount>(m_control.m_byteCounter);
        if (m_nextIncrease == NEVER_PS || every == 0)
        {
            return;
        }
        m_bytes += lineBytes;
        while (m_bytes >= every && m_nextIncrease != NEVER_PS)
        {
            m_bytes -= every;
            Increase();
            ++m_byteEvents;
        }
    }

    void OnTimer(TimePs now) override
    {
        UpdateAlpha(now);
        if (m_isCutDue && now >= NextCut())
        {
            Cut(now);
        }
        else if (m_nextIncrease != NEVER_PS && now >= m_nextIncrease)
        {
            m_nextIncrease += m_control.m_increaseTimer.GetPicoSeconds();
            Increase();
            ++m_timerEvents;
        }
    }

    TimePs NextTimer() const override
    {
        return m_isCutDue ? std::min(m_nextIncrease, NextCut()) : m_nextIncrease;
    }

    BitRate Rate() const override
    {
        return std::max<BitRate>(std::llround(m_rate), 1);
    }

    bool HasActed() const override
    {
        return m_lastCut != NEVER_PS;
    }

    std::vector<std::pair<std::string, double>> Inspect() const override
    {
        return {{"alpha", m_alpha},
                {"target_rate_bps", m_targetRate},
                {"timer_events", m_timerEvents},
                {"byte_events", m_byteEvents}};
    }

  private:
    /// When CNPs that come now take effect.
    TimePs NextCut() const
    {
        return m_lastCut + m_control.m_decreaseInterval.GetPicoSeconds();
    }

    /// Let alpha's timer have fired up to a time, that time included.
    void UpdateAlpha(TimePs now)
    {
        const TimePs interval = m_control.m_alphaInterval.GetPicoSeconds();
        if (m_alphaTime == NEVER_PS || now < m_alphaTime + interval)
        {
            return;
        }
        const TimePs intervals = (now - m_alphaTime) / interval;
        m_alphaTime += intervals * interval;
        const double raise = m_isCnpNoted ? m_control.m_gain : 0;
        m_isCnpNoted = false;
        m_alpha = (1 - m_control.m_gain) * m_alpha + raise;
        m_alpha *= Power(1 - m_control.m_gain, intervals - 1);
    }

    /// Section 3.1, equation 1.
    void Cut(TimePs now)
    {
        const bool hasIncreased = m_timerEvents + m_byteEvents > 0;
        if (m_control.m_doesClampTarget || hasIncreased)
        {
            m_targetRate = m_rate;
        }
        m_rate = std::max(m_rate * (1 - m_alpha / 2), m_minRate);
        if (m_control.m_alphaUpdate == AlphaUpdate::PER_CNP)
        {
            m_alpha = (1 - m_control.m_gain) * m_alpha + m_control.m_gain;
            m_alphaTime = now;
        }
        m_isCutDue = false;
        m_lastCut = now;
        m_timerEvents = 0;
        m_byteEvents = 0;
        m_bytes = 0;
        m_nextIncrease = now + m_control.m_increaseTimer.GetPicoSeconds();
    }

    /// An increase event; its own counter is counted up after it, so that there are F recoveries.
    void Increase()
    {
        const bool isCountingBytes = m_control.m_byteCounter != 0;
        const uint32_t byteEvents = isCountingBytes ? m_byteEvents : m_timerEvents;
        const uint32_t most = std::max(m_timerEvents, byteEvents);
        const uint32_t least = std::min(m_timerEvents, byteEvents);
        if (least > m_control.m_fastRecovery)
        {
            m_targetRate += static_cast<double>(m_control.m_hyperIncrease.GetBitRate());
        }
        else if (most >= m_control.m_fastRecovery)
        {
            m_targetRate += static_cast<double>(m_control.m_additiveIncrease.GetBitRate());
        }
        m_targetRate = std::min(m_targetRate, m_lineRate);
        m_rate = (m_rate + m_targetRate) / 2;
        if (m_rate > m_lineRate - 0.5)
        {
            m_nextIncrease = NEVER_PS;
        }
    }

    const Dcqcn& m_control;
    const double m_lineRate;
    const double m_minRate;
    double m_rate;
    double m_targetRate;
    double m_alpha{INITIAL_ALPHA};
    TimePs m_alphaTime{NEVER_PS}; ///< When alpha's timer last started.
    bool m_isCnpNoted{false};     ///< For the end of alpha's interval.
    bool m_isCutDue{false};       ///< CNPs came too soon after the last cut.
    TimePs m_lastCut{NEVER_PS};
    TimePs m_nextIncrease{NEVER_PS}; ///< NEVER_PS at line rate.
    ByteCount m_bytes{0};            ///< Since the last event of the byte counter.
    uint32_t m_timerEvents{0};       ///< Since the last cut.
    uint32_t m_byteEvents{0};        ///< Since the last cut.
};

TypeId
Dcqcn::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Dcqcn")
            .SetParent<CongestionControl>()
            .SetGroupName("Congestion")
            .AddConstructor<Dcqcn>()
            .AddAttribute("Gain",
                          "Weight g of the newest notice in alpha.",
                          DoubleValue(1.0 / 256),
                          MakeDoubleAccessor(&Dcqcn::m_gain),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("AlphaInterval",
                          "Time without CNPs after which alpha decays, and again after each such "
                          "time; under AlphaUpdate per_interval the time between its updates.",
                          TimeValue(MicroSeconds(55)),
                          MakeTimeAccessor(&Dcqcn::m_alphaInterval),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("AlphaUpdate",
                          "When alpha takes notice of CNPs.",
                          EnumValue(AlphaUpdate::PER_CNP),
                          MakeEnumAccessor<AlphaUpdate>(&Dcqcn::m_alphaUpdate),
                          MakeEnumChecker(AlphaUpdate::PER_CNP,
                                          "per_cnp",
                                          AlphaUpdate::PER_INTERVAL,
                                          "per_interval"))
            .AddAttribute("IncreaseTimer",
                          "Time between increases by the timer.",
                          TimeValue(MicroSeconds(55)),
                          MakeTimeAccessor(&Dcqcn::m_increaseTimer),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("ByteCounter",
                          "Line bytes between increases by the byte counter; 0 for none.",
                          UintegerValue(10'000'000),
                          MakeUintegerAccessor(&Dcqcn::m_byteCounter),
                          MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 62))
            .AddAttribute("FastRecovery",
                          "Increases F of the timer or of the byte counter that only go towards "
                          "the target rate.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Dcqcn::m_fastRecovery),
                          MakeUintegerChecker<uint32_t>(0, 1000))
            .AddAttribute("AdditiveIncrease",
                          "What the target rate rises by after fast recovery.",
                          DataRateValue(DataRate("40Mbps")),
                          MakeDataRateAccessor(&Dcqcn::m_additiveIncrease),
                          MakeDataRateChecker())
            .AddAttribute("HyperIncrease",
                          "What the target rate rises by when timer and byte counter both have "
                          "more than FastRecovery increases.",
                          DataRateValue(DataRate("400Mbps")),
                          MakeDataRateAccessor(&Dcqcn::m_hyperIncrease),
                          MakeDataRateChecker())
            .AddAttribute("MinRate",
                          "Rate below which no flow is cut.",
                          DataRateValue(DataRate("100Mbps")),
                          MakeDataRateAccessor(&Dcqcn::m_minRate),
                          MakeDataRateChecker())
            .AddAttribute("DecreaseInterval",
                          "Shortest time between two cuts; CNPs in between make one cut at its "
                          "end. 0 to cut with each CNP.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&Dcqcn::m_decreaseInterval),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("ClampTarget",
                          "Whether each cut makes the rate before it the target; otherwise only a "
                          "cut after an increase does.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&Dcqcn::m_doesClampTarget),
                          MakeBooleanChecker())
            .AddAttribute("CnpInterval",
                          "Shortest time between two CNPs that a receiver sends for a flow.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&Dcqcn::m_cnpInterval),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("CnpDelay",
                          "From a marked packet's last byte to its CNP at the receiver's port.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&Dcqcn::m_cnpDelay),
                          MakeTimeChecker(Time(0)));
    return tid;
}

Dcqcn::Dcqcn() = default;

Dcqcn::~Dcqcn() = default;

std::unique_ptr<FlowControl>
Dcqcn::NewFlow(const FlowFigures& figures) const
{
    return std::make_unique<Flow>(*this, figures);
}

} // namespace ns3
