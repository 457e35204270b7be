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
        m_awaitedMoments |= 1U << static_cast<unsigned>(moment);
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
    TurnReleases();
    GatherAlternatives();
}

void
TemplateGraph::TurnReleases()
{
    const PoolColumns& pools = m_description.pools;
    if (pools.usePool.empty())
    {
        return;
    }
    const auto giver = [&](uint32_t op, size_t use) {
        const auto& by = m_description.releaseOp;
        return by.empty() ? op : static_cast<uint32_t>(by[use]);
    };
    const auto row = [&](uint32_t op, size_t use) {
        const uint32_t by = giver(op, use);
        return Row(by, IsMessage(by) ? m_description.releaseOn[use] : EdgeOn::SENT);
    };
    const auto forEachUse = [&](auto&& visit) {
        for (uint32_t op = 0; op < Ops(); ++op)
        {
            for (auto use = static_cast<size_t>(pools.usePtr[op]);
                 use < static_cast<size_t>(pools.usePtr[op + 1]);
                 ++use)
            {
                visit(op, use);
            }
        }
    };
    m_releasedPtr.assign(Ops() * EDGE_MOMENTS + 1, 0);
    forEachUse([&](uint32_t op, size_t use) { ++m_releasedPtr[row(op, use) + 1]; });
    for (size_t i = 0; i + 1 < m_releasedPtr.size(); ++i)
    {
        m_releasedPtr[i + 1] += m_releasedPtr[i];
    }
    m_released.resize(pools.usePool.size());
    std::vector<uint32_t> fill(m_releasedPtr.begin(), m_releasedPtr.end() - 1);
    forEachUse([&](uint32_t op, size_t use) {
        m_released[fill[row(op, use)]++] =
            HeldUnit{pools.usePool[use], op, static_cast<uint32_t>(m_description.src[op])};
    });
}

void
TemplateGraph::GatherAlternatives()
{
    const ChoiceColumns& choices = m_description.choices;
    if (choices.Choices() == 0)
    {
        return;
    }
    m_choice.resize(choices.visitPtr.size() - 1);
    for (uint32_t choice = 0; choice < choices.Choices(); ++choice)
    {
        for (auto i = static_cast<size_t>(choices.choicePtr[choice]);
             i < static_cast<size_t>(choices.choicePtr[choice + 1]);
             ++i)
        {
            m_choice[i] = choice;
        }
    }
    m_alternativePtr.assign(m_choice.size() + 1, 0);
    for (const int32_t alternative : choices.ofOp)
    {
        m_alternativePtr[static_cast<size_t>(alternative + 1)] += alternative >= 0 ? 1 : 0;
    }
    for (size_t i = 0; i < m_choice.size(); ++i)
    {
        m_alternativePtr[i + 1] += m_alternativePtr[i];
    }
    m_alternativeOp.resize(m_alternativePtr.back());
    std::vector<uint32_t> fill(m_alternativePtr.begin(), m_alternativePtr.end() - 1);
    for (uint32_t op = 0; op < Ops(); ++op)
    {
        if (choices.ofOp[op] >= 0)
        {
            m_alternativeOp[fill[static_cast<size_t>(choices.ofOp[op])]++] = op;
        }
    }
}

} // namespace ns3
