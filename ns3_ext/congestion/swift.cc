// SPDX-License-Identifier: GPL-2.0-only
#include "swift.h"

#include "../core/errors.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(Swift);

/// The sender's side of a flow. Windows are in packets, as the paper's are.
class Swift::Flow : public FlowControl
{
  public:
    Flow(const Swift& control, const FlowFigures& figures)
        : m_control(control),
          m_figures(figures),
          m_roundTrip(figures.baseRoundTrip)
    {
        const auto range = static_cast<double>(control.m_flowRange.GetPicoSeconds());
        const double last = 1 / std::sqrt(control.m_flowMaxWindow);
        m_flowScale = range / (1 / std::sqrt(control.m_flowMinWindow) - last);
        m_flowOffset = -m_flowScale * last;
        // At line rate to begin with, as an RDMA NIC does; the paper does not say.
        const double roundTripBytes = static_cast<double>(figures.lineRate) *
                                      static_cast<double>(figures.baseRoundTrip) / BITS_PER_BYTE /
                                      PS_PER_S;
        m_window = std::clamp(roundTripBytes / figures.packetLineBytes,
                              control.m_minWindow,
                              control.m_maxWindow);
    }

    void OnAck(const AckReport& report) override
    {
        m_timeouts = 0;
        if (report.roundTrip == NEVER_PS)
        {
            return;
        }
        m_roundTrip = report.roundTrip;
        const auto delay = static_cast<double>(report.roundTrip);
        const double target = TargetDelay();
        if (delay < target)
        {
            const double increase = m_control.m_additiveIncrease * report.packets;
            SetWindow(m_window + (m_window >= 1 ? increase / m_window : increase), report.now);
        }
        else if (MayDecrease(report.now))
        {
            const double factor = 1 - m_control.m_decrease * (delay - target) / delay;
            SetWindow(std::max(factor, 1 - m_control.m_maxDecrease) * m_window, report.now);
        }
    }

    void OnLoss(TimePs now) override
    {
        m_timeouts = 0;
        DecreaseMost(now);
    }

    void OnTimeout(TimePs now) override
    {
        ++m_timeouts;
        if (m_timeouts >= m_control.m_resetAfter)
        {
            SetWindow(m_control.m_minWindow, now);
        }
        else
        {
            DecreaseMost(now);
        }
    }

    BitRate Rate() const override
    {
        if (m_window >= 1)
        {
            return m_figures.lineRate;
        }
        // A packet each round trip over window: the paper's pacing delay.
        const double rate = m_window * m_figures.packetLineBytes * BITS_PER_BYTE * PS_PER_S /
                            static_cast<double>(m_roundTrip);
        return std::clamp<BitRate>(std::llround(rate), 1, m_figures.lineRate);
    }

    ByteCount Window() const override
    {
        return std::max<ByteCount>(static_cast<ByteCount>(m_window * m_figures.payload), 1);
    }

    bool HasActed() const override
    {
        return m_lastDecrease != NEVER_PS;
    }

    std::vector<std::pair<std::string, double>> Inspect() const override
    {
        return {{"window_packets", m_window},
                {"target_delay_ps", TargetDelay()},
                {"timeouts", m_timeouts}};
    }

  private:
    /// Section 3.5: base, topology and flow scaling. The hops of the paper are switches.
    double TargetDelay() const
    {
        const double switches = std::max(m_figures.hops - 1, 0);
        const double flows =
            std::clamp(m_flowScale / std::sqrt(m_window) + m_flowOffset,
                       0.0,
                       static_cast<double>(m_control.m_flowRange.GetPicoSeconds()));
        return static_cast<double>(m_control.m_baseTarget.GetPicoSeconds()) +
               switches * static_cast<double>(m_control.m_hopTarget.GetPicoSeconds()) + flows;
    }

    /// Once a round trip.
    bool MayDecrease(TimePs now) const
    {
        return m_lastDecrease == NEVER_PS || now - m_lastDecrease >= m_roundTrip;
    }

    void DecreaseMost(TimePs now)
    {
        if (MayDecrease(now))
        {
            SetWindow((1 - m_control.m_maxDecrease) * m_window, now);
        }
    }

    void SetWindow(double window, TimePs now)
    {
        const double before = m_window;
        m_window = std::clamp(window, m_control.m_minWindow, m_control.m_maxWindow);
        if (m_window < before)
        {
            m_lastDecrease = now;
        }
    }

    const Swift& m_control;
    const FlowFigures m_figures;
    double m_flowScale;  ///< alpha of section 3.5
    double m_flowOffset; ///< beta of section 3.5
    double m_window;
    TimePs m_roundTrip; ///< The last that was measured.
    TimePs m_lastDecrease{NEVER_PS};
    uint32_t m_timeouts{0}; ///< In a row.
};

TypeId
Swift::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Swift")
            .SetParent<CongestionControl>()
            .SetGroupName("Congestion")
            .AddConstructor<Swift>()
            .AddAttribute("BaseTarget",
                          "Target delay of a round trip without switches and with many packets in "
                          "the window.",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&Swift::m_baseTarget),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("HopTarget",
                          "What the target rises by with each switch on the way.",
                          TimeValue(MicroSeconds(2)),
                          MakeTimeAccessor(&Swift::m_hopTarget),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("FlowRange",
                          "What the target rises by at most as the window falls.",
                          TimeValue(MicroSeconds(100)),
                          MakeTimeAccessor(&Swift::m_flowRange),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("FlowMinWindow",
                          "Packets in the window below which the target rises no more.",
                          DoubleValue(0.1),
                          MakeDoubleAccessor(&Swift::m_flowMinWindow),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("FlowMaxWindow",
                          "Packets in the window above which the target does not rise.",
                          DoubleValue(100),
                          MakeDoubleAccessor(&Swift::m_flowMaxWindow),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("AdditiveIncrease",
                          "Packets that the window rises by in a round trip below the target, ai.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&Swift::m_additiveIncrease),
                          MakeDoubleChecker<double>(0, 1e6))
            .AddAttribute("Decrease",
                          "Factor beta of decreases.",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&Swift::m_decrease),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("MaxDecrease",
                          "Largest part of the window that a decrease takes, max_mdf.",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&Swift::m_maxDecrease),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("ResetAfter",
                          "Timeouts in a row that reset the window to MinWindow.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Swift::m_resetAfter),
                          MakeUintegerChecker<uint32_t>(1, 1000))
            .AddAttribute("MinWindow",
                          "Smallest window, in packets; below 1 packets are paced.",
                          DoubleValue(0.001),
                          MakeDoubleAccessor(&Swift::m_minWindow),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("MaxWindow",
                          "Largest window, in packets.",
                          DoubleValue(1000),
                          MakeDoubleAccessor(&Swift::m_maxWindow),
                          MakeDoubleChecker<double>(1e-6, 1e6));
    return tid;
}

Swift::Swift() = default;

Swift::~Swift() = default;

std::unique_ptr<FlowControl>
Swift::NewFlow(const FlowFigures& figures) const
{
    if (m_flowMinWindow >= m_flowMaxWindow || m_minWindow > m_maxWindow)
    {
        throw ConfigError("ns3::Swift: FlowMinWindow has to be below FlowMaxWindow, and MinWindow "
                          "not above MaxWindow");
    }
    return std::make_unique<Flow>(*this, figures);
}

} // namespace ns3
