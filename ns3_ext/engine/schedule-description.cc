// SPDX-License-Identifier: GPL-2.0-only
#include "schedule-description.h"

#include "../core/errors.h"

namespace ns3
{

namespace
{

void
Require(bool isFine, const std::string& where, size_t index, const std::string& what)
{
    if (!isFine)
    {
        throw ConfigError(where + ", row " + std::to_string(index) + ": " + what);
    }
}

bool
IsInside(int64_t value, size_t size)
{
    return value >= 0 && static_cast<size_t>(value) < size;
}

/// A pointer column has a row more than what it points from, starts at 0, and never falls.
void
CheckPointers(const std::vector<int64_t>& ptr,
              size_t rows,
              size_t entries,
              const std::string& where)
{
    Require(ptr.size() == rows + 1 && ptr.front() == 0 && IsInside(ptr.back(), entries + 1) &&
                static_cast<size_t>(ptr.back()) == entries,
            where,
            rows,
            "the pointers of the compressed rows do not span their entries");
    for (size_t row = 0; row < rows; ++row)
    {
        Require(ptr[row] <= ptr[row + 1], where, row, "the pointers of the compressed rows fall");
    }
}

void
CheckDependencies(const std::vector<int64_t>& ptr,
                  const std::vector<int32_t>& op,
                  size_t rows,
                  const std::string& where)
{
    CheckPointers(ptr, rows, op.size(), where);
    for (size_t row = 0; row < rows; ++row)
    {
        for (int64_t i = ptr[row]; i < ptr[row + 1]; ++i)
        {
            const int32_t before = op[static_cast<size_t>(i)];
            Require(IsInside(before, row),
                    where,
                    row,
                    "waits for row " + std::to_string(before) + ", which does not precede it");
        }
    }
}

void
CheckPools(const PoolColumns& pools,
           size_t rows,
           size_t owners,
           size_t shared,
           const std::string& where)
{
    const size_t count = pools.owner.size();
    Require(pools.capacity.size() == count && pools.order.size() == count,
            where,
            count,
            "the pool columns differ in length");
    for (size_t pool = 0; pool < count; ++pool)
    {
        Require(IsInside(pools.owner[pool], owners), where, pool, "a pool's owner does not exist");
        Require(pools.capacity[pool] >= 1, where, pool, "a pool's capacity must be at least 1");
        Require(pools.order[pool] <= PoolOrder::PRIORITY, where, pool, "unknown order of a pool");
    }
    CheckPointers(pools.usePtr, rows, pools.usePool.size(), where + " (pool uses)");
    for (size_t i = 0; i < pools.usePool.size(); ++i)
    {
        const int32_t pool = pools.usePool[i];
        Require(IsInside(pool, count) || IsInside(int64_t{FIRST_SHARED_POOL} - pool, shared),
                where,
                i,
                "uses a pool that does not exist");
    }
}

/// A unit is given back at a moment of an operation that waits for the one that takes it.
void
CheckReleases(const TemplateDescription& description, const std::string& where)
{
    const PoolColumns& pools = description.pools;
    const size_t uses = pools.usePool.size();
    Require(description.releaseOn.size() == uses, where, uses, "every use has its moment");
    Require(description.releaseOp.empty() || description.releaseOp.size() == uses,
            where,
            uses,
            "every use has the operation that gives back, or none has");
    for (size_t use = 0; use < uses; ++use)
    {
        Require(description.releaseOn[use] <= EdgeOn::ACKED, where, use, "unknown moment of a use");
    }
    for (size_t op = 0; op < description.Ops() && !description.releaseOp.empty(); ++op)
    {
        for (auto use = static_cast<size_t>(pools.usePtr[op]);
             use < static_cast<size_t>(pools.usePtr[op + 1]);
             ++use)
        {
            const int64_t by = description.releaseOp[use];
            Require(IsInside(by, description.Ops()) && by >= static_cast<int64_t>(op),
                    where,
                    op,
                    "row " + std::to_string(by) +
                        " is to give back its unit of a pool, and precedes it");
        }
    }
}

void
CheckChoices(const ChoiceColumns& choices, size_t ops, const std::string& where)
{
    const size_t count = choices.Choices();
    if (count == 0)
    {
        Require(choices.ofOp.empty(), where, 0, "has an alternative, and there is no choice");
        return;
    }
    const size_t alternatives = choices.visitPtr.empty() ? 0 : choices.visitPtr.size() - 1;
    CheckPointers(choices.choicePtr, count, alternatives, where + " (choices)");
    CheckPointers(choices.visitPtr, alternatives, choices.visitLevel.size(), where + " (visits)");
    Require(choices.visitLoad.size() == choices.visitLevel.size(),
            where + " (visits)",
            alternatives,
            "every visit has its level and its load");
    for (size_t i = 0; i < choices.visitLevel.size(); ++i)
    {
        Require(choices.visitLevel[i] >= 0 && choices.visitLevel[i] < MAX_LEVELS &&
                    choices.visitLoad[i] >= 0 && choices.visitLoad[i] < MAX_TIME_PS,
                where + " (visits)",
                i,
                "its level or load is outside what is allowed");
    }
    Require(choices.ofOp.size() == ops, where, ops, "every operation has an alternative, or -1");
    std::vector<uint8_t> isUsed(alternatives, 0);
    for (size_t op = 0; op < ops; ++op)
    {
        const int32_t alternative = choices.ofOp[op];
        Require(alternative == -1 || IsInside(alternative, alternatives),
                where,
                op,
                "its alternative does not exist");
        if (alternative >= 0)
        {
            isUsed[static_cast<size_t>(alternative)] = 1;
        }
    }
    for (size_t alternative = 0; alternative < alternatives; ++alternative)
    {
        Require(isUsed[alternative] != 0, where, alternative, "an alternative has no operation");
    }
}

} // namespace

void
TemplateDescription::Validate(const std::string& name) const
{
    const size_t ops = Ops();
    Require(ranks >= 1, name, 0, "a group has at least one rank");
    Require(notifyOn == EdgeOn::DELIVERED || notifyOn == EdgeOn::ACKED,
            name,
            0,
            "a receiver is told when a message is delivered or acknowledged");
    Require(src.size() == ops && dst.size() == ops && size.size() == ops && duration.size() == ops,
            name,
            ops,
            "the operation columns differ in length");
    for (size_t op = 0; op < ops; ++op)
    {
        Require(kind[op] <= OpKind::COMPUTE, name, op, "unknown kind of operation");
        Require(IsInside(src[op], static_cast<size_t>(ranks)) &&
                    IsInside(dst[op], static_cast<size_t>(ranks)),
                name,
                op,
                "src and dst must be below " + std::to_string(ranks));
        Require((kind[op] == OpKind::SEND) == (src[op] != dst[op]),
                name,
                op,
                "a message goes to another rank, local work stays");
        Require(size[op] >= 0, name, op, "its size is negative");
        Require(duration[op] >= 0 && duration[op] < MAX_TIME_PS,
                name,
                op,
                "its duration is negative or over 13 days");
    }
    Require(control.empty() || control.size() == ops, name, ops, "control bytes of each, or none");
    for (size_t op = 0; op < control.size(); ++op)
    {
        Require(control[op] >= 0 && control[op] <= size[op],
                name,
                op,
                "more of its bytes are control than it has");
    }
    CheckDependencies(depPtr, depOp, ops, name);
    Require(depOn.size() == depOp.size(), name, ops, "every dependency has its moment");
    for (size_t i = 0; i < depOn.size(); ++i)
    {
        Require(depOn[i] <= EdgeOn::ACKED, name, i, "unknown moment of a dependency");
    }
    CheckPools(pools, ops, static_cast<size_t>(ranks), sharedPool.size(), name);
    CheckReleases(*this, name);
    CheckChoices(choices, ops, name);
}

uint32_t
ScheduleDescription::PriorityMask() const
{
    uint32_t mask = 0;
    for (const uint8_t used : instancePriority)
    {
        mask |= 1U << used;
    }
    for (const TemplateDescription& each : templates)
    {
        for (uint32_t op = 0; op < each.control.size() && (mask >> MAX_MESSAGE_PRIORITY) == 0; ++op)
        {
            mask |= each.IsControl(op) ? 1U << MAX_MESSAGE_PRIORITY : 0;
        }
    }
    return mask;
}

void
ScheduleDescription::Validate() const
{
    const std::string where = "schedule";
    for (size_t i = 0; i < templates.size(); ++i)
    {
        templates[i].Validate("template " + std::to_string(i));
    }
    Require(!groupPtr.empty(), where, 0, "the groups have no pointers");
    const size_t groups = groupPtr.size() - 1;
    CheckPointers(groupPtr, groups, groupRank.size(), where + " (groups)");
    for (size_t i = 0; i < groupRank.size(); ++i)
    {
        Require(IsInside(groupRank[i], static_cast<size_t>(ranks)),
                where + " (groups)",
                i,
                "rank " + std::to_string(groupRank[i]) + " does not exist");
    }
    std::vector<size_t> lastGroup(static_cast<size_t>(ranks), groups);
    for (size_t group = 0; group < groups; ++group)
    {
        for (auto i = static_cast<size_t>(groupPtr[group]);
             i < static_cast<size_t>(groupPtr[group + 1]);
             ++i)
        {
            size_t& last = lastGroup[static_cast<size_t>(groupRank[i])];
            Require(last != group,
                    where + " (groups)",
                    group,
                    "rank " + std::to_string(groupRank[i]) + " is in it twice");
            last = group;
        }
    }
    const size_t instances = instanceTemplate.size();
    Require(instanceGroup.size() == instances && instancePriority.size() == instances,
            where + " (instances)",
            instances,
            "the columns differ in length");
    for (size_t i = 0; i < instances; ++i)
    {
        Require(IsInside(instanceTemplate[i], templates.size()) &&
                    IsInside(instanceGroup[i], groups),
                where + " (instances)",
                i,
                "its template or group does not exist");
        const auto group = static_cast<size_t>(instanceGroup[i]);
        Require(groupPtr[group + 1] - groupPtr[group] ==
                    templates[static_cast<size_t>(instanceTemplate[i])].ranks,
                where + " (instances)",
                i,
                "its group has another size than its template");
        Require(instancePriority[i] <= MAX_MESSAGE_PRIORITY,
                where + " (instances)",
                i,
                "priorities of messages are 0..6");
    }
    const size_t ops = Ops();
    Require(rank.size() == ops && duration.size() == ops && instance.size() == ops &&
                member.size() == ops && priority.size() == ops,
            where,
            ops,
            "the operation columns differ in length");
    for (size_t op = 0; op < ops; ++op)
    {
        Require(kind[op] <= OuterKind::MEMORY, where, op, "unknown kind of operation");
        Require(IsInside(rank[op], static_cast<size_t>(ranks)), where, op, "no such rank");
        Require(duration[op] >= 0 && duration[op] < MAX_TIME_PS,
                where,
                op,
                "its duration is negative or over 13 days");
        if (kind[op] != OuterKind::COLLECTIVE)
        {
            continue;
        }
        Require(IsInside(instance[op], instances), where, op, "no such instance");
        const auto group = static_cast<size_t>(instanceGroup[static_cast<size_t>(instance[op])]);
        const int64_t place = groupPtr[group] + member[op];
        Require(member[op] >= 0 && place < groupPtr[group + 1] &&
                    groupRank[static_cast<size_t>(place)] == rank[op],
                where,
                op,
                "its rank is not that member of its group");
    }
    CheckDependencies(depPtr, depOp, ops, where);
    CheckPools(pools, ops, static_cast<size_t>(ranks), 0, where);
    for (size_t i = 0; i < templates.size(); ++i)
    {
        for (const int32_t first : templates[i].sharedPool)
        {
            Require(IsInside(first, pools.owner.size()) &&
                        pools.owner.size() - static_cast<size_t>(first) >=
                            static_cast<size_t>(ranks),
                    "template " + std::to_string(i),
                    0,
                    "a shared pool does not exist for every rank");
        }
    }
}

} // namespace ns3
