// SPDX-License-Identifier: GPL-2.0-only
#include "network-run.h"

#include "../core/errors.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ns3
{

NetworkRun::NetworkRun(std::unique_ptr<NetworkWorld> world, EdgeOn notifyOn)
    : m_world(std::move(world)),
      m_notifyOn(notifyOn),
      m_tellHandler(*this),
      m_timerHandler(*this)
{
    m_world->UsePriorities(1U << PRIORITY);
    m_world->Network().SetListener(*this);
}

// --------------------------------------------------------------------------- calls from outside

void
NetworkRun::Send(int64_t src, int64_t dst, ByteCount size, int64_t tag, Callback sent)
{
    const Key key = KeyOf("send", src, dst, size, tag);
    Unmatched& calls = m_unmatched[key];
    const bool isMatched = !calls.receives.empty();
    if (isMatched && calls.receives.front().size != size)
    {
        throw ConfigError("send of " + std::to_string(size) + " B from rank " +
                          std::to_string(src) + " to rank " + std::to_string(dst) + ", tag " +
                          std::to_string(tag) + ": its receive wants " +
                          std::to_string(calls.receives.front().size) + " B");
    }
    // Neither an instance of a collective nor an operation of one.
    const MessageId id =
        m_log.Append(-1, -1, static_cast<int32_t>(src), static_cast<int32_t>(dst), size);
    m_log.posted[id] = Now();
    m_messages.push_back(Message{tag, isMatched, false, std::move(sent), nullptr});
    ++m_openMessages;
    if (isMatched)
    {
        m_messages[id].received = std::move(calls.receives.front().received);
        calls.receives.pop_front();
        ForgetIfMatched(key);
    }
    else
    {
        calls.sends.push_back(id);
    }
    if (m_isRunning)
    {
        Post(id);
    }
    else
    {
        // Until Run the world may still be changed from outside.
        m_unposted.push_back(id);
    }
}

void
NetworkRun::Receive(int64_t dst, int64_t src, ByteCount size, int64_t tag, Callback received)
{
    const Key key = KeyOf("recv", src, dst, size, tag);
    Unmatched& calls = m_unmatched[key];
    if (calls.sends.empty())
    {
        calls.receives.push_back(EarlyReceive{size, Now(), std::move(received)});
        return;
    }
    const MessageId id = calls.sends.front();
    if (m_log.size[id] != size)
    {
        throw ConfigError("recv of " + std::to_string(size) + " B at rank " + std::to_string(dst) +
                          " from rank " + std::to_string(src) + ", tag " + std::to_string(tag) +
                          ": its send has " + std::to_string(m_log.size[id]) + " B");
    }
    calls.sends.pop_front();
    ForgetIfMatched(key);
    Message& message = m_messages[id];
    message.isMatched = true;
    message.received = std::move(received);
    if (message.isTold)
    {
        ++m_pendingCalls;
        m_world->Loop().ScheduleTimer(Now(), m_tellHandler, id);
    }
}

void
NetworkRun::Schedule(TimePs delay, Callback callback)
{
    RequireAlive();
    if (delay < 0 || delay >= MAX_TIME_PS - Now())
    {
        throw ConfigError("schedule: a delay of " + std::to_string(delay) + " ps at " +
                          std::to_string(Now()) + " ps; allowed: 0 or more, up to " +
                          std::to_string(MAX_TIME_PS - 1) + " ps of simulated time");
    }
    uint64_t slot = m_timers.size();
    if (m_freeSlots.empty())
    {
        m_timers.push_back(std::move(callback));
    }
    else
    {
        slot = m_freeSlots.back();
        m_freeSlots.pop_back();
        m_timers[slot] = std::move(callback);
    }
    ++m_pendingCalls;
    m_world->Loop().ScheduleTimer(Now() + delay, m_timerHandler, slot);
}

std::string
NetworkRun::Run(const ProgressHook& progress)
{
    RequireAlive();
    if (m_isRunning)
    {
        throw ConfigError("run() is under way; what it calls back cannot call it");
    }
    m_world->Begin();
    EventLoop& loop = m_world->Loop();
    std::function<void()> hook;
    if (progress)
    {
        hook = [&] { progress(loop.Now(), loop.EventCount(), m_doneMessages, m_messages.size()); };
    }
    m_isRunning = true;
    LoopExit exit = LoopExit::EMPTY;
    try
    {
        while (!m_unposted.empty())
        {
            Post(m_unposted.front());
            m_unposted.pop_front();
        }
        if (!(IsOver() && m_world->IsIdle()))
        {
            exit = m_world->Run(hook);
        }
    }
    catch (...)
    {
        m_isRunning = false;
        m_hasFailed = true;
        throw;
    }
    m_isRunning = false;
    if (m_failure)
    {
        std::rethrow_exception(std::exchange(m_failure, nullptr));
    }
    return IsOver() ? "completed" : ExitReasonOf(exit);
}

std::vector<NetworkRun::Unfinished>
NetworkRun::Leftovers() const
{
    std::vector<Unfinished> leftovers;
    for (MessageId id = 0; id < m_messages.size(); ++id)
    {
        const Message& message = m_messages[id];
        const bool isDelivered = m_log.delivered[id] != NEVER_PS;
        const bool isOver = isDelivered && m_log.acked[id] != NEVER_PS;
        if (!message.isMatched || !isOver)
        {
            leftovers.push_back(Unfinished{true,
                                           message.isMatched,
                                           isDelivered,
                                           static_cast<RankId>(m_log.src[id]),
                                           static_cast<RankId>(m_log.dst[id]),
                                           m_log.size[id],
                                           message.tag,
                                           m_log.posted[id]});
        }
    }
    for (const auto& [key, calls] : m_unmatched)
    {
        const auto& [tag, src, dst] = key;
        for (const EarlyReceive& receive : calls.receives)
        {
            leftovers.push_back(
                Unfinished{false, false, false, src, dst, receive.size, tag, receive.called});
        }
    }
    std::stable_sort(leftovers.begin(),
                     leftovers.end(),
                     [](const Unfinished& a, const Unfinished& b) { return a.called < b.called; });
    return leftovers;
}

RunOutcome
NetworkRun::Counts() const
{
    RunOutcome outcome;
    outcome.end = Now();
    m_world->Count(outcome);
    return outcome;
}

std::vector<int64_t>
NetworkRun::Tags() const
{
    std::vector<int64_t> tags;
    tags.reserve(m_messages.size());
    for (const Message& message : m_messages)
    {
        tags.push_back(message.tag);
    }
    return tags;
}

void
NetworkRun::Close()
{
    if (m_isRunning)
    {
        throw ConfigError("a network cannot be closed while it runs");
    }
    m_hasFailed = true; // Nothing more can be done with it.
    m_world->Close();
    m_unmatched.clear();
    m_timers.clear();
    for (Message& message : m_messages)
    {
        message.sent = nullptr;
        message.received = nullptr;
    }
}

NetworkRun::Key
NetworkRun::KeyOf(const char* what, int64_t src, int64_t dst, ByteCount size, int64_t tag) const
{
    RequireAlive();
    const int64_t ranks = m_world->Ranks();
    for (const int64_t rank : {src, dst})
    {
        if (rank < 0 || rank >= ranks)
        {
            throw ConfigError(std::string(what) + ": rank " + std::to_string(rank) +
                              " is not on the platform; allowed: 0 to " +
                              std::to_string(ranks - 1));
        }
    }
    if (src == dst)
    {
        throw ConfigError(std::string(what) + ": from rank " + std::to_string(src) +
                          " to itself; allowed: two different ranks");
    }
    if (size < 0)
    {
        throw ConfigError(std::string(what) + ": a size of " + std::to_string(size) +
                          " B; allowed: 0 or more");
    }
    return {tag, static_cast<RankId>(src), static_cast<RankId>(dst)};
}

void
NetworkRun::RequireAlive() const
{
    if (m_hasFailed)
    {
        throw ConfigError("this network is closed, or its run ended by an exception; make another");
    }
}

// -------------------------------------------------------------------------------------- events

void
NetworkRun::Post(MessageId id)
{
    m_world->Network().Post(MessageRequest{id,
                                           static_cast<RankId>(m_log.src[id]),
                                           static_cast<RankId>(m_log.dst[id]),
                                           m_log.size[id],
                                           PRIORITY});
}

void
NetworkRun::MessageSent(MessageId id)
{
    m_log.sent[id] = Now();
    Call(m_messages[id].sent);
}

void
NetworkRun::MessageDelivered(MessageId id, ByteCount bytes)
{
    m_log.delivered[id] = Now();
    m_log.deliveredBytes[id] += bytes;
    MomentCame(id, EdgeOn::DELIVERED);
}

void
NetworkRun::MessageAcked(MessageId id)
{
    m_log.acked[id] = Now();
    MomentCame(id, EdgeOn::ACKED);
}

void
NetworkRun::PacketRepeated(MessageId id)
{
    ++m_log.repeatedPackets[id];
}

void
NetworkRun::MomentCame(MessageId id, EdgeOn moment)
{
    // A receive latency may put the delivery after the acknowledgement.
    if (m_log.delivered[id] != NEVER_PS && m_log.acked[id] != NEVER_PS)
    {
        --m_openMessages;
        ++m_doneMessages;
    }
    if (moment == m_notifyOn)
    {
        m_messages[id].isTold = true;
        Call(m_messages[id].received);
    }
    StopIfOver();
}

void
NetworkRun::TellReceiver(uint64_t id)
{
    --m_pendingCalls;
    Call(m_messages[id].received);
    StopIfOver();
}

void
NetworkRun::TimerCame(uint64_t slot)
{
    --m_pendingCalls;
    Callback callback = std::exchange(m_timers[slot], nullptr);
    m_freeSlots.push_back(slot);
    Call(callback);
    StopIfOver();
}

void
NetworkRun::Call(Callback& callback)
{
    // It may add messages, which moves them all: nothing here refers to them while it runs.
    const Callback called = std::exchange(callback, nullptr);
    if (!called || m_hasFailed)
    {
        return;
    }
    try
    {
        called();
    }
    catch (...)
    {
        m_failure = std::current_exception();
        m_hasFailed = true;
        m_world->Loop().Stop();
    }
}

void
NetworkRun::ForgetIfMatched(const Key& key)
{
    const auto calls = m_unmatched.find(key);
    if (calls->second.sends.empty() && calls->second.receives.empty())
    {
        m_unmatched.erase(calls);
    }
}

void
NetworkRun::StopIfOver()
{
    if (IsOver())
    {
        m_world->StopWhenIdle();
    }
}

bool
NetworkRun::IsOver() const
{
    return m_openMessages == 0 && m_pendingCalls == 0;
}

} // namespace ns3
