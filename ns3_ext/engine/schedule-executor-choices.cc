// SPDX-License-Identifier: GPL-2.0-only
// The part of ScheduleExecutor that picks among alternatives at issue, and skips the others.
#include "schedule-executor.h"

#include <algorithm>

namespace ns3
{

namespace
{

/**
 * Whether one alternative visits less loaded levels than another: in order of their visits, as if
 * each sorted its levels by load. Of all orders of the same levels the ascending one is the least.
 */
bool
IsLessLoaded(const std::vector<TimePs>& loads, const std::vector<TimePs>& others)
{
    return std::lexicographical_compare(loads.begin(), loads.end(), others.begin(), others.end());
}

} // namespace

bool
ScheduleExecutor::IsPicked(uint32_t index, uint32_t op)
{
    const TemplateGraph& graph = *m_instances[index]->graph;
    const int32_t alternative = graph.AlternativeOf(op);
    if (alternative < 0)
    {
        return true;
    }
    const uint32_t choice = graph.ChoiceOf(alternative);
    const size_t place = m_firstPick[index] + choice;
    if (m_picked[place] < 0)
    {
        Pick(index, choice);
        // Others of the picked alternative may be ready, too, and come here on their own.
    }
    const auto& firstOf = graph.Description().choices.choicePtr;
    return firstOf[choice] + m_picked[place] == alternative;
}

void
ScheduleExecutor::Pick(uint32_t index, uint32_t choice)
{
    const TemplateGraph& graph = *m_instances[index]->graph;
    const ChoiceColumns& choices = graph.Description().choices;
    const auto group = static_cast<size_t>(m_schedule.instanceGroup[index]);
    const std::span<const int32_t> ranks(m_schedule.groupRank.data() + m_schedule.groupPtr[group],
                                         m_schedule.groupRank.data() +
                                             m_schedule.groupPtr[group + 1]);
    const auto first = static_cast<int32_t>(choices.choicePtr[choice]);
    const auto last = static_cast<int32_t>(choices.choicePtr[choice + 1]);
    int32_t best = first;
    std::vector<TimePs> least;
    for (int32_t alternative = first; alternative < last; ++alternative)
    {
        const auto row = static_cast<size_t>(alternative);
        std::vector<TimePs> loads;
        for (auto visit = static_cast<size_t>(choices.visitPtr[row]);
             visit < static_cast<size_t>(choices.visitPtr[row + 1]);
             ++visit)
        {
            loads.push_back(m_loads.Of(choices.visitLevel[visit], ranks));
        }
        if (alternative == first || IsLessLoaded(loads, least))
        {
            best = alternative;
            least = std::move(loads);
        }
    }
    m_picked[m_firstPick[index] + choice] = best - first;
    m_loads.Add(choices, best, ranks, 1);
    m_instances[index]->choiceLeft[choice] = static_cast<uint32_t>(graph.OpsOf(best).size());
    SkipOthers(index, choice, best);
}

void
ScheduleExecutor::SkipOthers(uint32_t index, uint32_t choice, int32_t picked)
{
    Instance& instance = *m_instances[index];
    const TemplateGraph& graph = *instance.graph;
    const TemplateDescription& description = graph.Description();
    std::vector<uint32_t> skipped;
    for (auto i = description.choices.choicePtr[choice];
         i < description.choices.choicePtr[choice + 1];
         ++i)
    {
        const auto alternative = static_cast<int32_t>(i);
        if (alternative != picked)
        {
            const auto ops = graph.OpsOf(alternative);
            skipped.insert(skipped.end(), ops.begin(), ops.end());
        }
    }
    // First all counts, then whoever waited for what will not be.
    std::vector<uint32_t> members;
    for (const uint32_t op : skipped)
    {
        --instance.opsLeft;
        instance.isEnded[op] = 1;
        members.push_back(static_cast<uint32_t>(description.src[op]));
        --instance.partLeft[members.back()];
        if (graph.IsMessage(op))
        {
            members.push_back(static_cast<uint32_t>(description.dst[op]));
            --instance.partLeft[members.back()];
        }
    }
    for (const uint32_t op : skipped)
    {
        Fire(index, op, EdgeOn::SENT);
        if (graph.IsMessage(op))
        {
            Fire(index, op, EdgeOn::DELIVERED);
            Fire(index, op, EdgeOn::ACKED);
        }
    }
    // What was picked is still to come, so that the instance is here until the last part's end.
    for (const uint32_t member : members)
    {
        PartProgress(index, member);
    }
}

void
ScheduleExecutor::OpOver(uint32_t index, uint32_t op)
{
    Instance& instance = *m_instances[index];
    --instance.opsLeft;
    const int32_t alternative = instance.graph->AlternativeOf(op);
    if (alternative < 0)
    {
        return;
    }
    if (--instance.choiceLeft[instance.graph->ChoiceOf(alternative)] == 0)
    {
        const auto group = static_cast<size_t>(m_schedule.instanceGroup[index]);
        m_loads.Add(instance.graph->Description().choices,
                    alternative,
                    {m_schedule.groupRank.data() + m_schedule.groupPtr[group],
                     m_schedule.groupRank.data() + m_schedule.groupPtr[group + 1]},
                    -1);
    }
}

} // namespace ns3
