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
        const size_t row = op * EDGE_MOMENTS + static_cast<size_t>(moment);
        return {m_successor.data() + m_successorPtr[row],
                m_successor.data() + m_successorPtr[row + 1]};
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
    const TemplateDescription& m_description;
    size_t m_messages{0};
    std::vector<uint32_t> m_successorPtr;
    std::vector<uint32_t> m_successor;
    std::vector<uint32_t> m_ownedPtr;
    std::vector<uint32_t> m_owned;
    std::vector<uint32_t> m_dependencyCount;
    std::vector<uint32_t> m_partCount;
};

} // namespace ns3

#endif // ASTRA_TEMPLATE_GRAPH_H
