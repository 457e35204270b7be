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

    const std::vector<ChannelCounters>& Counters() const
    {
        return m_counters;
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
        : m_counters(platform.Channels()),
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
        ChannelCounters& counters = m_counters[channel];
        counters.lineBytes += line;
        counters.payloadBytes += payload;
        counters.deliveredPayloadBytes += payload;
        counters.busy += held;
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
    MessageListener* m_listener{nullptr};
    std::vector<ChannelCounters> m_counters;
    std::vector<ByteCount> m_sentBytes;
    std::vector<ByteCount> m_receivedBytes;
};

} // namespace ns3

#endif // ASTRA_ANALYTIC_NETWORK_H
