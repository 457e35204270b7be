// SPDX-License-Identifier: GPL-2.0-only
#include "watch-columns.h"

#include "columns.h"

#include <utility>

namespace ns3
{

WatchOptions
ReadWatch(const py::handle& watch)
{
    WatchOptions options;
    options.isOn = true;
    options.messages = ReadColumn<int64_t>(watch, "messages");
    const auto channel = ReadColumn<int32_t>(watch, "channel");
    const auto from = ReadColumn<int64_t>(watch, "from_ps");
    const auto until = ReadColumn<int64_t>(watch, "until_ps");
    if (from.size() != channel.size() || until.size() != channel.size())
    {
        throw ConfigError("watch: channel, from_ps and until_ps have to be of one length");
    }
    for (size_t i = 0; i < channel.size(); ++i)
    {
        options.spans.push_back(WatchedSpan{static_cast<ChannelId>(channel[i]), from[i], until[i]});
    }
    options.maxRecords = watch.attr("max_records").cast<int64_t>();
    return options;
}

py::dict
GiveLog(WatchLog&& log)
{
    py::dict columns;
    columns["is_full"] = log.isFull;
    FrameColumns& frames = log.frames;
    columns["frame_channel"] = GiveColumn(std::move(frames.channel));
    columns["frame_ingress"] = GiveColumn(std::move(frames.ingress));
    columns["frame_kind"] = GiveColumn(std::move(frames.kind));
    columns["frame_priority"] = GiveColumn(std::move(frames.priority));
    columns["frame_is_repetition"] = GiveColumn(std::move(frames.isRepetition));
    columns["frame_flow"] = GiveColumn(std::move(frames.flow));
    columns["frame_psn"] = GiveColumn(std::move(frames.psn));
    columns["frame_src"] = GiveColumn(std::move(frames.src));
    columns["frame_dst"] = GiveColumn(std::move(frames.dst));
    columns["frame_message"] = GiveColumn(std::move(frames.message));
    columns["frame_payload_bytes"] = GiveColumn(std::move(frames.payloadBytes));
    columns["frame_line_bytes"] = GiveColumn(std::move(frames.lineBytes));
    columns["frame_eligible_ps"] = GiveColumn(std::move(frames.eligible));
    columns["frame_start_ps"] = GiveColumn(std::move(frames.start));
    columns["frame_end_ps"] = GiveColumn(std::move(frames.end));
    QueuePairColumns& queuePairs = log.queuePairs;
    columns["part_message"] = GiveColumn(std::move(queuePairs.partMessage));
    columns["part_flow"] = GiveColumn(std::move(queuePairs.partFlow));
    columns["part_number"] = GiveColumn(std::move(queuePairs.partNumber));
    columns["part_first_psn"] = GiveColumn(std::move(queuePairs.partFirstPsn));
    columns["part_packets"] = GiveColumn(std::move(queuePairs.partPackets));
    columns["part_submitted_ps"] = GiveColumn(std::move(queuePairs.partTime));
    columns["hold_flow"] = GiveColumn(std::move(queuePairs.holdFlow));
    columns["hold"] = GiveColumn(std::move(queuePairs.hold));
    columns["hold_ps"] = GiveColumn(std::move(queuePairs.holdTime));
    OperationLog& operations = log.operations;
    columns["ready_ps"] = GiveColumn(std::move(operations.ready));
    columns["start_ps"] = GiveColumn(std::move(operations.start));
    columns["end_ps"] = GiveColumn(std::move(operations.end));
    columns["wait_row"] = GiveColumn(std::move(operations.waitRow));
    columns["wait_pool"] = GiveColumn(std::move(operations.waitPool));
    columns["wait_ps"] = GiveColumn(std::move(operations.waitTime));
    return columns;
}

} // namespace ns3
