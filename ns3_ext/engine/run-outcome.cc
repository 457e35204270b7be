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
    channelMarkedFrames.push_back(channel.markedFrames);
    channelPauses.push_back(channel.pauses);
    channelPaused.push_back(channel.paused);
    channelPfcFrames.push_back(channel.pfcFrames);
    channelBufferDrops.push_back(channel.bufferDrops);
}

void
RunOutcome::TakeFrom(ScheduleExecutor& executor, LoopExit exit, TimePs now)
{
    opStart = executor.StartTimes();
    opEnd = executor.EndTimes();
    end = opEnd.empty() ? 0 : std::max<TimePs>(0, *std::max_element(opEnd.begin(), opEnd.end()));
    exitReason = "completed";
    const bool isComplete = executor.IsComplete();
    if (!isComplete || executor.IsAnyoneAbsent())
    {
        // Where all that there is has ended, who is absent will not come any more.
        exitReason = isComplete ? "deadlock" : ExitReasonOf(exit);
        end = now;
        waiting = executor.DescribeWaiting(MAX_WAITING);
    }
    if (failure)
    {
        exitReason = "failed";
        end = now;
    }
    counters["peak_instances"] = executor.PeakInstances();
    choicePicks = executor.TakePicks();
    messages = executor.TakeMessages();
    counters["messages"] = static_cast<int64_t>(messages.Size());
}

} // namespace ns3
