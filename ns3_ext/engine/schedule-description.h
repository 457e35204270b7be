// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_SCHEDULE_DESCRIPTION_H
#define ASTRA_SCHEDULE_DESCRIPTION_H

#include "../core/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/// The values are those of astra_py.collectives.schedule.OpKind.
enum class OpKind : uint8_t
{
    SEND = 0,
    REDUCE = 1,
    COMPUTE = 2,
};

/// The values are those of astra_py.collectives.schedule.OuterKind.
enum class OuterKind : uint8_t
{
    COMPUTE = 0,
    COLLECTIVE = 1,
    MEMORY = 2,
};

/// A moment of a message; the values are those of astra_py.collectives.schedule.EdgeOn.
enum class EdgeOn : uint8_t
{
    SENT = 0,
    DELIVERED = 1,
    ACKED = 2,
};

constexpr size_t EDGE_MOMENTS = 3;

/// Highest priority of a message; the class above is for acknowledgements.
constexpr uint8_t MAX_MESSAGE_PRIORITY = 6;

/// Levels of the network that a choice may weigh: more than there are tiers of machines anywhere.
constexpr int32_t MAX_LEVELS = 16;

/// The values are those of astra_py.collectives.schedule.PoolOrder.
enum class PoolOrder : uint8_t
{
    FIFO = 0,
    LIFO = 1,
    PRIORITY = 2,
};

/// Counting semaphores and who takes them, as columns.
struct PoolColumns
{
    std::vector<int32_t> owner;
    std::vector<int32_t> capacity;
    std::vector<PoolOrder> order;
    std::vector<int64_t> usePtr;
    std::vector<int32_t> usePool;
};

/// The use of a template's first shared pool; that of the k-th is k less.
constexpr int32_t FIRST_SHARED_POOL = -2;

/// Ways of doing a part of a collective, of which one is picked at issue, as columns.
struct ChoiceColumns
{
    std::vector<int64_t> choicePtr;  ///< Choice to its alternatives, numbered through.
    std::vector<int64_t> visitPtr;   ///< Alternative to the levels that it visits, in order.
    std::vector<int32_t> visitLevel; ///< A level of the network.
    std::vector<int64_t> visitLoad;  ///< Time that it is likely to take there, in ps.
    std::vector<int32_t> ofOp;       ///< Operation to alternative, or -1; empty without choices.

    size_t Choices() const
    {
        return choicePtr.empty() ? 0 : choicePtr.size() - 1;
    }
};

/// One collective in group coordinates, as columns; see astra_py.collectives.schedule.Template.
struct TemplateDescription
{
    int32_t ranks{0};
    bool isFlows{false}; ///< Whether it is a list of flows and no collective.
    EdgeOn notifyOn{EdgeOn::DELIVERED};
    std::vector<OpKind> kind;
    std::vector<int32_t> src;
    std::vector<int32_t> dst;
    std::vector<int64_t> size;
    std::vector<int64_t> duration;
    std::vector<int64_t> control; ///< Bytes of a message that are no data; empty where none are.
    std::vector<int64_t> depPtr;
    std::vector<int32_t> depOp;
    std::vector<EdgeOn> depOn;
    PoolColumns pools;
    std::vector<EdgeOn> releaseOn;  ///< Per use of a pool.
    std::vector<int32_t> releaseOp; ///< Per use: whose moment; empty where all give back their own.
    std::vector<int32_t> sharedPool; ///< Shared pool to the schedule's pool of rank 0.
    ChoiceColumns choices;

    size_t Ops() const
    {
        return kind.size();
    }

    /// Whether an operation is a message that carries no data, but says something to a protocol.
    bool IsControl(uint32_t op) const
    {
        return !control.empty() && control[op] > 0 && control[op] == size[op];
    }

    /**
     * Check every column against the others.
     *
     * @param name What the template is called in an error.
     * @throws ConfigError naming the operation that is wrong.
     */
    void Validate(const std::string& name) const;
};

/// A whole run, as columns; see astra_py.collectives.schedule.Schedule.
struct ScheduleDescription
{
    int32_t ranks{0};
    std::vector<TemplateDescription> templates;
    std::vector<int64_t> groupPtr;
    std::vector<int32_t> groupRank;
    std::vector<int32_t> instanceTemplate;
    std::vector<int32_t> instanceGroup;
    std::vector<uint8_t> instancePriority;
    std::vector<OuterKind> kind;
    std::vector<int32_t> rank;
    std::vector<int64_t> duration;
    std::vector<int32_t> instance;
    std::vector<int32_t> member;
    std::vector<uint8_t> priority;
    std::vector<int64_t> depPtr;
    std::vector<int32_t> depOp;
    PoolColumns pools;

    size_t Ops() const
    {
        return kind.size();
    }

    /// Bit p is set for each priority p that messages have.
    uint32_t PriorityMask() const;

    /**
     * Check every column against the others.
     *
     * @throws ConfigError naming the operation, instance or group that is wrong.
     */
    void Validate() const;
};

} // namespace ns3

#endif // ASTRA_SCHEDULE_DESCRIPTION_H
