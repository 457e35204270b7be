// SPDX-License-Identifier: GPL-2.0-only
#include "dctcp.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(Dctcp);

namespace
{

/// Alpha of a new flow (RFC 8257, section 4.2).
constexpr double INITIAL_ALPHA = 1;

} // namespace

/// The sender's side of a flow. Windows are in payload bytes.
class Dctcp::Flow : public FlowControl
{
  public:
    Flow(const Dctcp& control, const FlowFigures& figures)
        : m_control(control),
          m_lineRate(figures.lineRate),
          m_packet(figures.payload)
    {
        const double lineBytes = static_cast<double>(figures.lineRate) *
                                 static_cast<double>(figures.baseRoundTrip) / BITS_PER_BYTE /
                                 PS_PER_S;
        const auto given = static_cast<double>(control.m_initialWindow);
        SetWindow(given > 0 ? given : lineBytes * m_packet / figures.packetLineBytes);
    }

    void OnAck(const AckReport& report) override
    {
        m_sentPsn = report.sentPsn;
        m_packets += report.packets;
        m_markedPackets += report.markedPackets;
        if (report.ackedPsn > m_alphaEnd)
        {
            EndRound();
        }
        if (report.markedPackets == 0)
        {
            Grow(report);
        }
        else if (report.ackedPsn > m_cutEnd)
        {
            // Equation 2, in place of TCP's half.
            Cut(m_window * (1 - m_alpha / 2));
        }
    }

    void OnLoss(TimePs /* now */) override
    {
        Cut(m_window / 2);
    }

    void OnTimeout(TimePs /* now */) override
    {
        Cut(m_window / 2);
        m_window = m_packet;
    }

    BitRate Rate() const override
    {
        return m_lineRate;
    }

    ByteCount Window() const override
    {
        return static_cast<ByteCount>(m_window);
    }

    bool HasActed() const override
    {
        return m_hasActed;
    }

    std::vector<std::pair<std::string, double>> Inspect() const override
    {
        return {{"alpha", m_alpha}, {"window_bytes", m_window}, {"slow_start_until", m_threshold}};
    }

  private:
    void SetWindow(double window)
    {
        m_window = std::max(window, m_packet);
    }

    /// Equation 1, once for each window of data.
    void EndRound()
    {
        if (m_packets > 0)
        {
            const double marked = static_cast<double>(m_markedPackets) / m_packets;
            m_alpha = (1 - m_control.m_gain) * m_alpha + m_control.m_gain * marked;
        }
        m_packets = 0;
        m_markedPackets = 0;
        m_alphaEnd = m_sentPsn;
    }

    /// RFC 5681, section 3.1; not while the window is not used (RFC 7661).
    void Grow(const AckReport& report)
    {
        if (report.inFlight + report.newlyAcked < Window())
        {
            return;
        }
        const auto acked = static_cast<double>(report.newlyAcked);
        m_window += m_window < m_threshold ? acked : m_packet * acked / m_window;
    }

    void Cut(double window)
    {
        SetWindow(window);
        m_threshold = m_window;
        m_cutEnd = m_sentPsn;
        m_hasActed = true;
    }

    const Dctcp& m_control;
    const BitRate m_lineRate;
    const double m_packet; ///< Payload of a full packet, the smallest window.
    double m_window{0};
    double m_threshold{std::numeric_limits<double>::infinity()}; ///< Slow start ends at it.
    double m_alpha{INITIAL_ALPHA};
    uint32_t m_packets{0};       ///< Acknowledged since alpha was updated.
    uint32_t m_markedPackets{0}; ///< Of these.
    uint64_t m_sentPsn{0};
    uint64_t m_alphaEnd{0}; ///< The ACK beyond it updates alpha.
    uint64_t m_cutEnd{0};   ///< Marks of packets up to it cut no more.
    bool m_hasActed{false};
};

TypeId
Dctcp::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Dctcp")
            .SetParent<CongestionControl>()
            .SetGroupName("Congestion")
            .AddConstructor<Dctcp>()
            .AddAttribute("Gain",
                          "Weight g of the newest share of marked packets in alpha.",
                          DoubleValue(1.0 / 16),
                          MakeDoubleAccessor(&Dctcp::m_gain),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("InitialWindow",
                          "Window of a new flow, in payload bytes; 0 for what the line carries in "
                          "a round trip over empty links.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Dctcp::m_initialWindow),
                          MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 50));
    return tid;
}

Dctcp::Dctcp() = default;

Dctcp::~Dctcp() = default;

std::unique_ptr<FlowControl>
Dctcp::NewFlow(const FlowFigures& figures) const
{
    return std::make_unique<Flow>(*this, figures);
}

} // namespace ns3
