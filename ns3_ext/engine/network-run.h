// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_NETWORK_RUN_H
#define ASTRA_NETWORK_RUN_H

#include "../core/member-handler.h"
#include "../core/message-network.h"
#include "message-log.h"
#include "network-world.h"
#include "run-outcome.h"
#include "schedule-description.h"

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace ns3
{

/**
 * A world driven by calls from outside: sends, receives that match them, and timers.
 *
 * A receive matches a send of equal tag, source and destination, whichever was called first; those
 * of equal three match in order of their calls. What is called back may call anything here but Run.
 * An exception that it throws ends the run: it is kept until the network is out of its own event,
 * and then thrown out of Run.
 */
class NetworkRun : private MessageListener
{
  public:
    /// What is called back; may be empty.
    using Callback = std::function<void()>;

    /// A send without its receive, or a receive without its send; or a message that never came.
    struct Unfinished
    {
        bool isSend{false};
        bool isMatched{false};
        bool isDelivered{false};
        RankId src{0};
        RankId dst{0};
        ByteCount size{0};
        int64_t tag{0};
        TimePs called{0};
    };

    /**
     * @param world Where it happens.
     * @param notifyOn The moment at which the receiver's side is told of a message.
     */
    NetworkRun(std::unique_ptr<NetworkWorld> world, EdgeOn notifyOn);

    /**
     * Send a message, now.
     *
     * @param src, dst Ranks.
     * @param size Payload bytes.
     * @param tag Any number.
     * @param sent Called when the last byte has left the sender.
     * @throws ConfigError when a rank is not on the platform, both are the same, the size is
     *         negative or not that of the receive it matches, or the run has failed.
     */
    void Send(int64_t src, int64_t dst, ByteCount size, int64_t tag, Callback sent);

    /**
     * Be told of a message.
     *
     * @param dst, src, size, tag As of the send.
     * @param received Called when the receiver's side is told, at once where that has been.
     * @throws ConfigError as Send.
     */
    void Receive(int64_t dst, int64_t src, ByteCount size, int64_t tag, Callback received);

    /// Call back after a delay; throws ConfigError when it is negative or past the end of time.
    void Schedule(TimePs delay, Callback callback);

    /// Simulated time; throws ConfigError when the world is closed.
    TimePs Now() const
    {
        return m_world->Loop().Now();
    }

    /**
     * Run until every message is over, every timer has been called back and nothing is on its way.
     *
     * More may be posted afterwards, and run again.
     *
     * @param progress Called now and then, or empty; may throw to end the run.
     * @return "completed", or why not; also with sends or receives that have no match.
     * @throws ConfigError when it is running, has failed or is closed; and what a callback throws.
     */
    std::string Run(const ProgressHook& progress);

    /// What Run has left, in order of the calls.
    std::vector<Unfinished> Leftovers() const;

    /// Counters of the world so far, without messages; throws ConfigError when it is closed.
    RunOutcome Counts() const;

    /// What happened to each message so far, in order of the sends; there are no instances.
    const MessageLog& Messages() const
    {
        return m_log;
    }

    /// Tag of each message.
    std::vector<int64_t> Tags() const;

    /// Close the world and forget what was to be called back; harmless when done twice.
    void Close();

    std::vector<uint32_t> NodeIds() const
    {
        return m_world->NodeIds();
    }

  private:
    /// What the log has no column for.
    struct Message
    {
        int64_t tag{0};
        bool isMatched{false};
        bool isTold{false}; ///< The receiver's side may be called back.
        Callback sent;
        Callback received;
    };

    /// A receive that came before its send.
    struct EarlyReceive
    {
        ByteCount size{0};
        TimePs called{0};
        Callback received;
    };

    /// Calls of one tag, source and destination that have no match; one of the two is empty.
    struct Unmatched
    {
        std::deque<MessageId> sends;
        std::deque<EarlyReceive> receives;
    };

    using Key = std::tuple<int64_t, RankId, RankId>;

    /// That of all messages: ASTRA-SIM's interface has none either.
    static constexpr uint8_t PRIORITY = 0;

    // MessageListener
    void MessageSent(MessageId id) override;
    void MessageDelivered(MessageId id, ByteCount bytes) override;
    void MessageAcked(MessageId id) override;
    void PacketRepeated(MessageId id) override;

    Key KeyOf(const char* what, int64_t src, int64_t dst, ByteCount size, int64_t tag) const;
    void RequireAlive() const;
    void Post(MessageId id);
    void MomentCame(MessageId id, EdgeOn moment);
    void TellReceiver(uint64_t id);
    void TimerCame(uint64_t slot);
    void Call(Callback& callback);
    void ForgetIfMatched(const Key& key);
    void StopIfOver();
    bool IsOver() const;

    const std::unique_ptr<NetworkWorld> m_world;
    const EdgeOn m_notifyOn;
    MessageLog m_log;
    std::vector<Message> m_messages; ///< By identity, beside the log.
    std::map<Key, Unmatched> m_unmatched;
    std::deque<MessageId> m_unposted; ///< Sent before the run.
    std::vector<Callback> m_timers;   ///< By slot.
    std::vector<uint64_t> m_freeSlots;
    uint64_t m_openMessages{0};
    uint64_t m_doneMessages{0};
    uint64_t m_pendingCalls{0};
    std::exception_ptr m_failure;
    bool m_hasFailed{false};
    bool m_isRunning{false};
    MemberHandler<NetworkRun, &NetworkRun::TellReceiver> m_tellHandler;
    MemberHandler<NetworkRun, &NetworkRun::TimerCame> m_timerHandler;
};

} // namespace ns3

#endif // ASTRA_NETWORK_RUN_H
