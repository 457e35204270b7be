// SPDX-License-Identifier: GPL-2.0-only
#include "frame-watch.h"

#include <algorithm>

namespace ns3
{

FrameWatch::FrameWatch(const std::vector<WatchedSpan>& spans, size_t channels, size_t limit)
    : m_spans(channels),
      m_next(channels, 0),
      m_limit(limit)
{
    for (const WatchedSpan& span : spans)
    {
        m_spans[span.channel].push_back(Span{span.from, span.until});
    }
    for (std::vector<Span>& mine : m_spans)
    {
        std::sort(mine.begin(), mine.end(), [](const Span& a, const Span& b) {
            return a.from < b.from;
        });
        std::vector<Span> apart;
        for (const Span& span : mine)
        {
            if (!apart.empty() && span.from <= apart.back().until)
            {
                apart.back().until = std::max(apart.back().until, span.until);
            }
            else
            {
                apart.push_back(span);
            }
        }
        mine = std::move(apart);
    }
}

void
FrameWatch::Started(ChannelId channel,
                    const Frame& frame,
                    uint32_t lineBytes,
                    TimePs start,
                    TimePs end)
{
    TimePs eligible =
        frame.ingress == NO_CHANNEL && frame.kind == FrameKind::DATA ? NEVER_PS : start;
    if (const auto waiting = m_waiting.find(&frame); waiting != m_waiting.end())
    {
        eligible = waiting->second;
        m_waiting.erase(waiting);
    }
    const std::vector<Span>& spans = m_spans[channel];
    size_t& next = m_next[channel];
    while (next < spans.size() && spans[next].until < start)
    {
        ++next;
    }
    if (next == spans.size() || spans[next].from > end)
    {
        return;
    }
    if (m_frames.channel.size() == m_limit)
    {
        m_isFull = true;
        return;
    }
    const bool isNew = frame.ingress == NO_CHANNEL;
    m_frames.channel.push_back(static_cast<int32_t>(channel));
    m_frames.ingress.push_back(isNew ? -1 : static_cast<int32_t>(frame.ingress));
    m_frames.kind.push_back(static_cast<uint8_t>(frame.kind));
    m_frames.priority.push_back(frame.transitPriority);
    m_frames.isRepetition.push_back(frame.isRepetition ? 1 : 0);
    m_frames.flow.push_back(static_cast<int32_t>(frame.flow));
    m_frames.psn.push_back(static_cast<int32_t>(frame.psn));
    m_frames.src.push_back(static_cast<int32_t>(frame.src));
    m_frames.dst.push_back(static_cast<int32_t>(frame.dst));
    m_frames.message.push_back(isNew && frame.kind == FrameKind::DATA ? m_message : int64_t{-1});
    m_frames.payloadBytes.push_back(frame.payloadBytes);
    m_frames.lineBytes.push_back(lineBytes);
    m_frames.eligible.push_back(eligible);
    m_frames.start.push_back(start);
    m_frames.end.push_back(end);
}

} // namespace ns3
