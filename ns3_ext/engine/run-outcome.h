// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_RUN_OUTCOME_H
#define ASTRA_RUN_OUTCOME_H

#include "../core/event-loop.h"
#include "../core/units.h"
#include "../fabric/channel-sampler.h"
#include "../fabric/fabric.h"
#include "../roce/control-record.h"
#include "../roce/queue-pair-watch.h"
#include "../tcp/tcp-columns.h"
#include "../wire/capture-options.h"
#include "compute-slowdown.h"
#include "fault.h"
#include "message-log.h"
#include "operation-log.h"
#include "schedule-executor.h"
#include "watch-options.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{

/// How far a run is: time, events, finished operations, operations.
using ProgressHook = std::function<void(TimePs, uint64_t, uint64_t, uint64_t)>;

/// Which model of whole messages an AnalyticWorld has.
enum class AnalyticModel : uint8_t
{
    LOGGP,
    ASTRA_SIM,
    ASTRA_SIM_CONGESTION,
};

/// What a run needs beside its subject; see astra_py.engines.base.EngineOptions.
struct RunOptions
{
    uint64_t seed{1};
    TimePs endpointDelay{0};
    SlowdownFactor computeSlowdown;
    int64_t maxEvents{-1};
    TimePs maxTime{-1};
    Fault fault{Fault::NONE};
    AnalyticModel analyticModel{AnalyticModel::LOGGP};
    std::map<std::string, std::string> ns3Defaults;
    CaptureOptions capture;
    WatchOptions watch;
    uint32_t linkBins{0}; ///< Most bins of time that channels are counted by; 0: none.
};

/// Why a run that did not complete came back, in a word of astra_py.engines.base.ExitReason.
std::string ExitReasonOf(LoopExit exit);

/// What was written down of a watched run; see astra_py.engines.watch.WatchLog.
struct WatchLog
{
    bool isFull{false}; ///< There was more than there is room for.
    FrameColumns frames;
    QueuePairColumns queuePairs;
    OperationLog operations;
};

/// What a run measured; see astra_py.engines.base.EngineColumns.
struct RunOutcome
{
    std::string exitReason;
    TimePs end{0};
    std::vector<int64_t> opStart;
    std::vector<int64_t> opEnd;
    std::vector<int32_t> choicePicks; ///< Of each choice of each instance; -1 where it never came.
    MessageLog messages;
    std::vector<int64_t> channelLineBytes;
    std::vector<int64_t> channelFrames;
    std::vector<int64_t> channelDataFrames;
    std::vector<int64_t> channelPayloadBytes;
    std::vector<int64_t> channelDeliveredPayloadBytes;
    std::vector<int64_t> channelDroppedFrames;
    std::vector<int64_t> channelBusy;
    std::vector<int64_t> channelMaxQueueBytes;
    std::vector<int64_t> channelMarkedFrames;
    std::vector<int64_t> channelPauses;
    std::vector<int64_t> channelPaused;
    std::vector<int64_t> channelPfcFrames;
    std::vector<int64_t> channelBufferDrops;
    ChannelBins bins;
    std::vector<int64_t> nodeBufferBytes;
    std::vector<int64_t> nodeMaxBufferBytes;
    std::vector<PauseEpisode> pauses;
    std::vector<ControlRecord> controls;       ///< Of flows that a congestion control held back.
    std::vector<ChannelId> deadlockedChannels; ///< Paused for ever, each waiting for another.
    std::vector<int64_t> rankSentPayloadBytes;
    std::vector<int64_t> rankReceivedPayloadBytes;
    CoreColumns cores;
    StagingColumns staging;
    MessageHostColumns messagesAtHosts;
    SocketColumns sockets;
    std::map<std::string, int64_t> counters;
    std::vector<WaitingItem> waiting;
    std::optional<WatchLog> log;
    std::exception_ptr failure; ///< What ended the run before its time, thrown somewhere in it.

    void AddChannel(const ChannelCounters& counters);

    /// The executor's side: operations, messages, what waits where the run did not complete.
    void TakeFrom(ScheduleExecutor& executor, LoopExit exit, TimePs now);
};

} // namespace ns3

#endif // ASTRA_RUN_OUTCOME_H
