// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_TEMPLATE_GRAPH_H
#define ASTRA_TEMPLATE_GRAPH_H

#include "schedule-description.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3
{

/**
 * A template turned round for execution: who waits for whom, instead of whom one waits for.
 *
 * Made once per template and shared by all its instances.
 */
class TemplateGraph
{
  public:
    explicit TemplateGraph(const TemplateDescription& description);

    const TemplateDescription& Description() const
    {
        return m_description;
    }

    uint32_t Ops() const
    {
        return static_cast<uint32_t>(m_description.Ops());
    }

    /// How many of the operations are messages.
    size_t Messages() const
    {
        return m_messages;
    }

    bool IsMessage(uint32_t op) const
    {
        return m_description.kind[op] == OpKind::SEND;
    }

    /// Operations that wait for a moment of this one; a local operation has its end as SENT only.
    std::span<const uint32_t> Successors(uint32_t op, EdgeOn moment) const
    {
        // Where nothing waits for any operation's moment, none of a million has to be looked up.
        if ((m_awaitedMoments >> static_cast<unsigned>(moment) & 1) == 0)
        {
            return {};
        }
        const size_t row = Row(op, moment);
        return {m_successor.data() + m_successorPtr[row],
                m_successor.data() + m_successorPtr[row + 1]};
    }

    /// A unit of a pool and the member whose operation took it.
    struct HeldUnit
    {
        int32_t pool;
        uint32_t taker;
        uint32_t member;
    };

    /// Units given back at a moment of an operation; a local one has its end as SENT only.
    std::span<const HeldUnit> Released(uint32_t op, EdgeOn moment) const
    {
        if (m_released.empty())
        {
            return {};
        }
        const size_t row = Row(op, moment);
        return {m_released.data() + m_releasedPtr[row], m_released.data() + m_releasedPtr[row + 1]};
    }

    /// The alternative that an operation is of, or -1.
    int32_t AlternativeOf(uint32_t op) const
    {
        return m_description.choices.ofOp.empty() ? -1 : m_description.choices.ofOp[op];
    }

    /// The choice that an alternative is of.
    uint32_t ChoiceOf(int32_t alternative) const
    {
        return m_choice[static_cast<size_t>(alternative)];
    }

    /// Operations of an alternative, in order.
    std::span<const uint32_t> OpsOf(int32_t alternative) const
    {
        const auto row = static_cast<size_t>(alternative);
        return {m_alternativeOp.data() + m_alternativePtr[row],
                m_alternativeOp.data() + m_alternativePtr[row + 1]};
    }

    /// Operations that belong to a member, in order.
    std::span<const uint32_t> Owned(uint32_t member) const
    {
        return {m_owned.data() + m_ownedPtr[member], m_owned.data() + m_ownedPtr[member + 1]};
    }

    /// How many dependencies each operation has.
    const std::vector<uint32_t>& DependencyCounts() const
    {
        return m_dependencyCount;
    }

    /// What each member's part consists of: local work, own messages and messages to it.
    const std::vector<uint32_t>& PartCounts() const
    {
        return m_partCount;
    }

  private:
    static size_t Row(uint32_t op, EdgeOn moment)
    {
        return op * EDGE_MOMENTS + static_cast<size_t>(moment);
    }

    void TurnReleases();
    void GatherAlternatives();

    const TemplateDescription& m_description;
    size_t m_messages{0};
    uint32_t m_awaitedMoments{0}; ///< Bit m is set where an operation waits for moment m of one.
    std::vector<uint32_t> m_successorPtr;
    std::vector<uint32_t> m_successor;
    std::vector<uint32_t> m_ownedPtr;
    std::vector<uint32_t> m_owned;
    std::vector<uint32_t> m_dependencyCount;
    std::vector<uint32_t> m_partCount;
    std::vector<uint32_t> m_releasedPtr; ///< By operation and moment; empty without pools.
    std::vector<HeldUnit> m_released;
    std::vector<uint32_t> m_choice; ///< By alternative.
    std::vector<uint32_t> m_alternativePtr;
    std::vector<uint32_t> m_alternativeOp;
};

} // namespace ns3

#endif // ASTRA_TEMPLATE_GRAPH_H
