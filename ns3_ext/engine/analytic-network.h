// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_ANALYTIC_NETWORK_H
#define ASTRA_ANALYTIC_NETWORK_H

#include "../core/message-network.h"
#include "../fabric/platform-description.h"
#include "../fabric/port.h"

#include <vector>

namespace ns3
{

/**
 * What models of whole messages have in common: they send no frame, so what crosses links and ranks
 * is not counted by ports but computed.
 */
class AnalyticNetwork : public MessageNetwork
{
  public:
    // MessageNetwork
    void SetListener(MessageListener& listener) override
    {
        m_listener = &listener;
    }

    std::vector<ChannelCounters> Counters() const
    {
        std::vector<ChannelCounters> counters(m_crossed.size());
        for (size_t channel = 0; channel < m_crossed.size(); ++channel)
        {
            const Crossed& crossed = m_crossed[channel];
            counters[channel].lineBytes = crossed.line;
            counters[channel].payloadBytes = crossed.payload;
            counters[channel].deliveredPayloadBytes = crossed.payload;
            counters[channel].busy = crossed.held;
        }
        return counters;
    }

    const std::vector<ByteCount>& SentBytes() const
    {
        return m_sentBytes;
    }

    const std::vector<ByteCount>& ReceivedBytes() const
    {
        return m_receivedBytes;
    }

  protected:
    explicit AnalyticNetwork(const PlatformDescription& platform)
        : m_crossed(platform.Channels()),
          m_sentBytes(platform.Ranks(), 0),
          m_receivedBytes(platform.Ranks(), 0)
    {
    }

    MessageListener& Listener()
    {
        return *m_listener;
    }

    /// A message, or a part of one, crosses a channel and holds it.
    void CountCrossing(ChannelId channel, ByteCount line, ByteCount payload, TimePs held)
    {
        Crossed& crossed = m_crossed[channel];
        crossed.line += line;
        crossed.payload += payload;
        crossed.held += held;
    }

    void CountSent(RankId src, ByteCount payload)
    {
        m_sentBytes[src] += payload;
    }

    void CountReceived(RankId dst, ByteCount payload)
    {
        m_receivedBytes[dst] += payload;
    }

  private:
    /// All that whole messages count of a channel.
    struct Crossed
    {
        ByteCount line{0};
        ByteCount payload{0};
        TimePs held{0};
    };

    MessageListener* m_listener{nullptr};
    std::vector<Crossed> m_crossed; ///< Per channel.
    std::vector<ByteCount> m_sentBytes;
    std::vector<ByteCount> m_receivedBytes;
};

} // namespace ns3

#endif // ASTRA_ANALYTIC_NETWORK_H
