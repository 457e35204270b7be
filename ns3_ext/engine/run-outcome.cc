// SPDX-License-Identifier: GPL-2.0-only
#include "run-outcome.h"

#include <algorithm>

namespace ns3
{

namespace
{

/// Items told of a run that did not complete: enough to see the pattern.
constexpr size_t MAX_WAITING = 40;

} // namespace

std::string
ExitReasonOf(LoopExit exit)
{
    switch (exit)
    {
    case LoopExit::EVENT_LIMIT:
        return "event_limit";
    case LoopExit::TIME_LIMIT:
        return "time_limit";
    case LoopExit::STOPPED:
        return "stopped";
    case LoopExit::EMPTY:
        break;
    }
    return "deadlock";
}

void
RunOutcome::AddChannel(const ChannelCounters& channel)
{
    channelLineBytes.push_back(channel.lineBytes);
    channelFrames.push_back(channel.frames);
    channelDataFrames.push_back(channel.dataFrames);
    channelPayloadBytes.push_back(channel.payloadBytes);
    channelDeliveredPayloadBytes.push_back(channel.deliveredPayloadBytes);
    channelDroppedFrames.push_back(channel.droppedFrames);
    channelBusy.push_back(channel.busy);
    channelMaxQueueBytes.push_back(channel.maxQueueBytes);
}

void
RunOutcome::TakeFrom(ScheduleExecutor& executor, LoopExit exit, TimePs now)
{
    opStart = executor.StartTimes();
    opEnd = executor.EndTimes();
    end = opEnd.empty() ? 0 : std::max<TimePs>(0, *std::max_element(opEnd.begin(), opEnd.end()));
    exitReason = "completed";
    if (!executor.IsComplete())
    {
        exitReason = ExitReasonOf(exit);
        end = now;
        waiting = executor.DescribeWaiting(MAX_WAITING);
    }
    counters["peak_instances"] = executor.PeakInstances();
    messages = executor.TakeMessages();
    counters["messages"] = static_cast<int64_t>(messages.Size());
}

} // namespace ns3
