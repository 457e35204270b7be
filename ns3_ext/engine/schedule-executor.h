// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_SCHEDULE_EXECUTOR_H
#define ASTRA_SCHEDULE_EXECUTOR_H

#include "../core/event-loop.h"
#include "../core/member-handler.h"
#include "../core/message-network.h"
#include "compute-slowdown.h"
#include "fault.h"
#include "level-loads.h"
#include "message-rows.h"
#include "operation-log.h"
#include "pool-set.h"
#include "schedule-description.h"
#include "template-graph.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/// Something that never happened, and what it waits for; -1 where a field does not apply.
struct WaitingItem
{
    /// "dependency", "pool", "join", "absent", "message", "local" or "operation"; or "connection",
    /// of TCP, number `innerOp` from `rank` to rank `blocker`, posted as long as it is not given
    /// up.
    std::string what;
    int32_t op{-1};      ///< The schedule's operation that waits.
    int32_t blocker{-1}; ///< The operation to be over first: a dependency, or who holds a pool.
    int32_t instance{-1};
    int32_t innerOp{-1};     ///< The template's operation that has not come.
    int32_t rank{-1};        ///< Who has to do it.
    int32_t pool{-1};        ///< The pool, as its template names it, that innerOp waits for.
    bool isPosted{false};    ///< Whether a message was at least posted.
    bool isDelivered{false}; ///< Whether only its acknowledgement is out.
};

/**
 * Runs a schedule on a network: starts what is ready, tells what waits, and keeps the times.
 *
 * An instance of a template is expanded when its first member joins and given back when the last
 * part is done and the last message over, so that only what is under way is in memory.
 * Which model carries the messages is no matter here.
 */
class ScheduleExecutor : public MessageListener
{
  public:
    /**
     * @param schedule Checked; must outlive the executor.
     * @param loop The run's clock.
     * @param network Carries the messages.
     * @param endpointDelay Between joining and the first operation, and after each notification.
     * @param slowdown Of local work while collectives are under way at its rank.
     * @param fault For tests of the checks.
     */
    ScheduleExecutor(const ScheduleDescription& schedule,
                     EventLoop& loop,
                     MessageNetwork& network,
                     TimePs endpointDelay,
                     SlowdownFactor slowdown,
                     Fault fault);

    /// Tell the network between whom messages will go; before Start, at most once.
    void Announce() const;

    /// Start all that waits for nothing.
    void Start();

    /// Called once, when every operation is done and every message over.
    void SetCompletion(std::function<void()> completed)
    {
        m_completed = std::move(completed);
    }

    bool IsComplete() const
    {
        return m_doneOps == m_schedule.Ops() && m_openMessages == 0;
    }

    /// Whether a member of a collective is in none of the schedule's operations.
    bool IsAnyoneAbsent() const;

    uint64_t DoneOps() const
    {
        return m_doneOps;
    }

    const std::vector<int64_t>& StartTimes() const
    {
        return m_start;
    }

    const std::vector<int64_t>& EndTimes() const
    {
        return m_end;
    }

    /// What happened to each message; the executor keeps nothing of it.
    MessageLog TakeMessages()
    {
        return m_rows.TakeColumns(
            [this](uint32_t instance, int32_t member) { return RankOf(instance, member); });
    }

    /// What was picked of each choice of each instance, in order; -1 where none was.
    std::vector<int32_t> TakePicks()
    {
        return std::move(m_picked);
    }

    /// Write down from now on when operations of instances could start, and did.
    void WatchOperations();

    /// What was written down; nothing where it was not asked for.
    OperationLog TakeOperations()
    {
        return m_operations == nullptr ? OperationLog{} : std::move(*m_operations);
    }

    /// Most instances that were expanded at a time.
    uint32_t PeakInstances() const
    {
        return m_peakInstances;
    }

    /**
     * What waits for what, where a run has not completed.
     *
     * @param limit Most items to tell.
     */
    std::vector<WaitingItem> DescribeWaiting(size_t limit) const;

    // MessageListener
    void MessageSent(MessageId id) override;
    void MessageDelivered(MessageId id, ByteCount bytes) override;
    void MessageAcked(MessageId id) override;
    void PacketRepeated(MessageId id) override;

  private:
    /// A collective under way.
    struct Instance
    {
        const TemplateGraph* graph{nullptr};
        std::vector<uint32_t> waitsFor;  ///< Per operation: dependencies that are not met.
        std::vector<uint16_t> poolsHeld; ///< Per operation: pools it has taken so far.
        std::vector<uint32_t> partLeft;  ///< Per member.
        std::vector<int32_t> outerOp;    ///< Per member: its participation, -1 before it joins.
        std::vector<uint8_t> hasJoined;
        std::vector<uint8_t> isEnded;     ///< Per operation, of local ones.
        std::vector<uint32_t> choiceLeft; ///< Per choice: operations of what was picked.
        PoolSet pools;
        uint32_t membersLeft{0};
        uint64_t opsLeft{0}; ///< Local operations and messages that are not over.
    };

    void OuterReady(uint32_t op);
    void OuterStart(uint32_t op);
    bool IsOfCollective(uint32_t op) const;
    void SlowedTimer(uint64_t op);
    void OuterEnd(uint64_t op);
    void FinishOuter(uint32_t op);
    void Join(uint64_t op);
    void InnerReady(uint32_t instance, uint32_t op);
    void InnerStart(uint32_t instance, uint32_t op);
    void InnerEnd(uint64_t instanceAndOp);
    void Fire(uint32_t instance, uint32_t op, EdgeOn moment);
    bool TakePool(uint32_t instance, uint32_t op, int32_t pool);
    size_t SharedPool(uint32_t instance, uint32_t member, int32_t pool) const;
    void ReleaseInner(uint32_t instance, uint32_t op, EdgeOn moment);
    void Granted(uint64_t who);
    void PostDelayed(uint64_t instanceAndOp);
    bool IsPicked(uint32_t instance, uint32_t op);
    void Pick(uint32_t instance, uint32_t choice);
    void SkipOthers(uint32_t instance, uint32_t choice, int32_t picked);
    void OpOver(uint32_t instance, uint32_t op);
    int32_t RankOf(uint32_t instance, int32_t member) const;
    void PartProgress(uint32_t instance, uint32_t member);
    void DeliveryNotified(uint64_t id);
    void AckNotified(uint64_t id);
    void Notify(MessageId id, EdgeOn moment);
    void MomentCame(MessageId id, EdgeOn moment, EventHandler& handler);
    void NotifyLater(MessageId id, EdgeOn moment, EventHandler& handler);
    void FreeIfOver(uint32_t instance);
    void LogReady(uint32_t instance, uint32_t op);
    void LogPoolWait(uint32_t instance, uint32_t op, int32_t pool);
    void CheckCompletion();
    Instance& Expand(uint32_t instance);
    void PostMessage(uint32_t instance, uint32_t op);
    uint8_t PriorityOf(uint32_t instance, uint32_t op) const;
    void PlanSwap();
    void DropMessage(uint64_t id);
    bool IsUnderWay(uint32_t op) const;
    int32_t PoolWaitedFor(const Instance& instance, uint32_t op, bool isPosted) const;
    void DescribeAbsent(size_t limit, std::vector<WaitingItem>& items) const;
    WaitingItem ItemOf(const char* what, uint32_t op) const;
    WaitingItem DescribePoolWait(uint32_t op) const;
    void DescribeJoins(uint32_t op, size_t limit, std::vector<WaitingItem>& items) const;
    void DescribeParticipation(uint32_t op, size_t limit, std::vector<WaitingItem>& items) const;

    static constexpr MessageId NO_MESSAGE = std::numeric_limits<MessageId>::max();
    static constexpr uint64_t NO_OPERATION = std::numeric_limits<uint64_t>::max();

    /// In place of an instance, for an operation of the schedule.
    static constexpr uint32_t OUTER = std::numeric_limits<uint32_t>::max();

    static uint64_t Pack(uint32_t instance, uint32_t op)
    {
        return (static_cast<uint64_t>(instance) << 32) | op;
    }

    const ScheduleDescription& m_schedule;
    EventLoop& m_loop;
    MessageNetwork& m_network;
    const TimePs m_endpointDelay;
    const Fault m_fault;

    std::vector<TemplateGraph> m_graphs;
    std::vector<std::unique_ptr<Instance>> m_instances; ///< Expanded ones only.
    std::vector<std::unique_ptr<Instance>> m_spare;
    uint32_t m_liveInstances{0};
    uint32_t m_peakInstances{0};

    std::vector<uint32_t> m_successorPtr;
    std::vector<uint32_t> m_successor;
    std::vector<uint32_t> m_waitsFor;
    std::vector<uint16_t> m_poolsHeld;
    std::vector<int64_t> m_start;
    std::vector<int64_t> m_end;
    PoolSet m_pools;
    std::vector<size_t> m_firstPick; ///< Per instance; its choices are picked from here on.
    std::vector<int32_t> m_picked;
    LevelLoads m_loads;
    std::unique_ptr<ComputeSlowdown> m_slowdown; ///< None where nothing is slowed.
    std::vector<uint32_t> m_ended; ///< To be finished, in order; keeps the call depth flat.
    bool m_isFinishing{false};
    uint64_t m_doneOps{0};

    MessageRows m_rows;
    std::unique_ptr<OperationLog> m_operations; ///< Of runs that are watched.
    std::vector<size_t> m_firstRow;             ///< There, by instance.
    uint64_t m_openMessages{0};
    MessageId m_ghost{NO_MESSAGE}; ///< The second copy of a doubled message.
    std::pair<uint64_t, uint64_t> m_swapped{NO_OPERATION, NO_OPERATION};
    std::pair<ByteCount, ByteCount> m_swappedSize{0, 0};
    std::function<void()> m_completed;

    MemberHandler<ScheduleExecutor, &ScheduleExecutor::OuterEnd> m_outerEndHandler;
    MemberHandler<ScheduleExecutor, &ScheduleExecutor::SlowedTimer> m_slowedHandler;
    MemberHandler<ScheduleExecutor, &ScheduleExecutor::Join> m_joinHandler;
    MemberHandler<ScheduleExecutor, &ScheduleExecutor::InnerEnd> m_innerEndHandler;
    MemberHandler<ScheduleExecutor, &ScheduleExecutor::PostDelayed> m_postHandler;
    MemberHandler<ScheduleExecutor, &ScheduleExecutor::DeliveryNotified> m_deliveryHandler;
    MemberHandler<ScheduleExecutor, &ScheduleExecutor::AckNotified> m_ackHandler;
    MemberHandler<ScheduleExecutor, &ScheduleExecutor::DropMessage> m_dropHandler;
};

} // namespace ns3

#endif // ASTRA_SCHEDULE_EXECUTOR_H
