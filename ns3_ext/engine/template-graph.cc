// SPDX-License-Identifier: GPL-2.0-only
#include "template-graph.h"

namespace ns3
{

TemplateGraph::TemplateGraph(const TemplateDescription& description)
    : m_description(description)
{
    const auto ops = static_cast<uint32_t>(description.Ops());
    const auto ranks = static_cast<uint32_t>(description.ranks);

    // Successors, by a counting sort over (predecessor, moment).
    m_dependencyCount.resize(ops);
    m_successorPtr.assign(ops * EDGE_MOMENTS + 1, 0);
    const auto row = [&](size_t edge) {
        const auto before = static_cast<uint32_t>(description.depOp[edge]);
        const EdgeOn moment = IsMessage(before) ? description.depOn[edge] : EdgeOn::SENT;
        return before * EDGE_MOMENTS + static_cast<size_t>(moment);
    };
    for (size_t edge = 0; edge < description.depOp.size(); ++edge)
    {
        ++m_successorPtr[row(edge) + 1];
    }
    for (size_t i = 0; i + 1 < m_successorPtr.size(); ++i)
    {
        m_successorPtr[i + 1] += m_successorPtr[i];
    }
    m_successor.resize(description.depOp.size());
    std::vector<uint32_t> fill(m_successorPtr.begin(), m_successorPtr.end() - 1);
    for (uint32_t op = 0; op < ops; ++op)
    {
        const auto begin = static_cast<size_t>(description.depPtr[op]);
        const auto end = static_cast<size_t>(description.depPtr[op + 1]);
        m_dependencyCount[op] = static_cast<uint32_t>(end - begin);
        for (size_t edge = begin; edge < end; ++edge)
        {
            m_successor[fill[row(edge)]++] = op;
        }
    }

    m_ownedPtr.assign(ranks + 1, 0);
    m_partCount.assign(ranks, 0);
    for (uint32_t op = 0; op < ops; ++op)
    {
        const auto owner = static_cast<uint32_t>(description.src[op]);
        ++m_ownedPtr[owner + 1];
        ++m_partCount[owner];
        if (IsMessage(op))
        {
            ++m_messages;
            ++m_partCount[static_cast<uint32_t>(description.dst[op])];
        }
    }
    for (uint32_t rank = 0; rank < ranks; ++rank)
    {
        m_ownedPtr[rank + 1] += m_ownedPtr[rank];
    }
    m_owned.resize(ops);
    fill.assign(m_ownedPtr.begin(), m_ownedPtr.end() - 1);
    for (uint32_t op = 0; op < ops; ++op)
    {
        m_owned[fill[static_cast<uint32_t>(description.src[op])]++] = op;
    }
}

} // namespace ns3
