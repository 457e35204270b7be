// SPDX-License-Identifier: GPL-2.0-only
#include "descriptions.h"

#include "columns.h"
#include "control-columns.h"
#include "failure.h"
#include "tcp-descriptions.h"
#include "watch-columns.h"

#include <map>
#include <optional>
#include <pybind11/stl.h>
#include <string>

namespace ns3
{

namespace
{

RoutingPolicy
ReadRouting(const py::handle& object)
{
    RoutingPolicy routing;
    routing.kind = ReadEnum(object, "kind", RoutingKind::HOOK);
    routing.nics = ReadEnum(object, "nic_policy", NicPolicy::PXN);
    routing.isSeedCommon = object.attr("is_seed_common").cast<bool>();
    const py::object chosen = object.attr("chosen");
    routing.chosen.src = ReadColumn<int32_t>(chosen, "src");
    routing.chosen.dst = ReadColumn<int32_t>(chosen, "dst");
    routing.chosen.queuePair = ReadColumn<int32_t>(chosen, "queue_pair");
    routing.chosen.ptr = ReadColumn<int64_t>(chosen, "ptr");
    routing.chosen.channel = ReadColumn<int32_t>(chosen, "channel");
    return routing;
}

} // namespace

PlatformDescription
ReadPlatform(const py::handle& arrays)
{
    PlatformDescription platform;
    platform.nodeKind = ReadColumn<NodeKind>(arrays, "node_kind");
    platform.nodeRank = ReadColumn<int32_t>(arrays, "node_rank");
    platform.nodeLatency = ReadColumn<TimePs>(arrays, "node_latency_ps");
    platform.nodeForwards = ReadColumn<uint8_t>(arrays, "node_forwards");
    for (const int32_t node : ReadColumn<int32_t>(arrays, "link_a"))
    {
        platform.linkA.push_back(static_cast<NodeIndex>(node));
    }
    for (const int32_t node : ReadColumn<int32_t>(arrays, "link_b"))
    {
        platform.linkB.push_back(static_cast<NodeIndex>(node));
    }
    platform.linkRate = ReadColumn<BitRate>(arrays, "link_rate_bps");
    platform.linkDelay = ReadColumn<TimePs>(arrays, "link_delay_ps");
    platform.linkLoss = ReadColumn<double>(arrays, "link_loss");
    platform.linkEfficiency = ReadColumn<double>(arrays, "link_efficiency");
    platform.rankMachine = ReadColumn<int32_t>(arrays, "rank_machine");
    platform.rankRail = ReadColumn<int32_t>(arrays, "rank_rail");
    platform.routing = ReadRouting(arrays.attr("routing"));
    platform.Validate();
    return platform;
}

namespace
{

PoolColumns
ReadPools(const py::handle& object)
{
    PoolColumns pools;
    pools.owner = ReadColumn<int32_t>(object, "pool_owner");
    pools.capacity = ReadColumn<int32_t>(object, "pool_capacity");
    pools.order = ReadColumn<PoolOrder>(object, "pool_order");
    pools.usePtr = ReadColumn<int64_t>(object, "use_ptr");
    pools.usePool = ReadColumn<int32_t>(object, "use_pool");
    return pools;
}

/// @param shared The first of each rank's pools that templates share, by name.
TemplateDescription
ReadTemplate(const py::handle& object, const std::map<std::string, int32_t>& shared)
{
    TemplateDescription description;
    description.ranks = object.attr("ranks").cast<int32_t>();
    description.isFlows = object.attr("is_flows").cast<bool>();
    description.notifyOn = ReadEnum(object, "notify_on", EdgeOn::ACKED);
    description.kind = ReadColumn<OpKind>(object, "kind");
    description.src = ReadColumn<int32_t>(object, "src");
    description.dst = ReadColumn<int32_t>(object, "dst");
    description.size = ReadColumn<int64_t>(object, "size_bytes");
    description.duration = ReadColumn<int64_t>(object, "duration_ps");
    description.control = ReadColumn<int64_t>(object, "control_bytes");
    description.depPtr = ReadColumn<int64_t>(object, "dep_ptr");
    description.depOp = ReadColumn<int32_t>(object, "dep_op");
    description.depOn = ReadColumn<EdgeOn>(object, "dep_on");
    description.pools = ReadPools(object);
    description.releaseOn = ReadColumn<EdgeOn>(object, "release_on");
    description.releaseOp = ReadColumn<int32_t>(object, "release_op");
    for (const py::handle name : object.attr("shared_pools"))
    {
        const auto found = shared.find(name.cast<std::string>());
        if (found == shared.end())
        {
            throw ConfigError("a template takes units of the pool \"" + name.cast<std::string>() +
                              "\", which the schedule's ranks do not have");
        }
        description.sharedPool.push_back(found->second);
    }
    ChoiceColumns& choices = description.choices;
    choices.ofOp = ReadColumn<int32_t>(object, "alternative");
    choices.choicePtr = ReadColumn<int64_t>(object, "choice_ptr");
    choices.visitPtr = ReadColumn<int64_t>(object, "visit_ptr");
    choices.visitLevel = ReadColumn<int32_t>(object, "visit_level");
    choices.visitLoad = ReadColumn<int64_t>(object, "visit_load_ps");
    return description;
}

py::dict
GiveWaiting(const WaitingItem& item)
{
    py::dict fields;
    fields["what"] = item.what;
    fields["op"] = item.op;
    fields["blocker"] = item.blocker;
    fields["instance"] = item.instance;
    fields["inner_op"] = item.innerOp;
    fields["rank"] = item.rank;
    fields["pool"] = item.pool;
    fields["is_posted"] = item.isPosted;
    fields["is_delivered"] = item.isDelivered;
    return fields;
}

/// Pauses in order of their starts, then of channels.
void
GivePauses(py::dict& columns, std::vector<PauseEpisode>& pauses)
{
    std::sort(pauses.begin(), pauses.end(), [](const PauseEpisode& a, const PauseEpisode& b) {
        return std::tie(a.start, a.channel, a.priority) < std::tie(b.start, b.channel, b.priority);
    });
    std::vector<int32_t> channel;
    std::vector<uint8_t> priority;
    std::vector<int64_t> start;
    std::vector<int64_t> end;
    for (const PauseEpisode& pause : pauses)
    {
        channel.push_back(static_cast<int32_t>(pause.channel));
        priority.push_back(pause.priority);
        start.push_back(pause.start);
        end.push_back(pause.end);
    }
    columns["pause_channel"] = GiveColumn(std::move(channel));
    columns["pause_priority"] = GiveColumn(std::move(priority));
    columns["pause_start_ps"] = GiveColumn(std::move(start));
    columns["pause_end_ps"] = GiveColumn(std::move(end));
}

Fault
FaultOf(const std::string& name)
{
    if (name.empty())
    {
        return Fault::NONE;
    }
    if (name == "drop_message")
    {
        return Fault::DROP_MESSAGE;
    }
    if (name == "double_message")
    {
        return Fault::DOUBLE_MESSAGE;
    }
    if (name == "swap_sizes")
    {
        return Fault::SWAP_SIZES;
    }
    throw ConfigError("fault: \"" + name +
                      "\" is none of drop_message, double_message, swap_sizes");
}

AnalyticModel
AnalyticModelOf(const std::string& mode)
{
    if (mode == "loggp")
    {
        return AnalyticModel::LOGGP;
    }
    if (mode == "astra_sim")
    {
        return AnalyticModel::ASTRA_SIM;
    }
    if (mode == "astra_sim_congestion")
    {
        return AnalyticModel::ASTRA_SIM_CONGESTION;
    }
    throw ConfigError("analytic_mode: \"" + mode +
                      "\" is none of loggp, astra_sim, astra_sim_congestion");
}

} // namespace

ScheduleDescription
ReadSchedule(const py::handle& object)
{
    ScheduleDescription schedule;
    schedule.ranks = object.attr("ranks").cast<int32_t>();
    std::map<std::string, int32_t> shared;
    const auto first = ReadColumn<int32_t>(object, "shared_first");
    size_t count = 0;
    for (const py::handle name : object.attr("shared_pools"))
    {
        if (count < first.size())
        {
            shared.emplace(name.cast<std::string>(), first[count]);
        }
        ++count;
    }
    if (count != first.size())
    {
        throw ConfigError("shared_first: has " + std::to_string(first.size()) + " pools, and " +
                          std::to_string(count) + " have names");
    }
    for (const py::handle item : object.attr("templates"))
    {
        schedule.templates.push_back(ReadTemplate(item, shared));
    }
    schedule.groupPtr = ReadColumn<int64_t>(object, "group_ptr");
    schedule.groupRank = ReadColumn<int32_t>(object, "group_rank");
    schedule.instanceTemplate = ReadColumn<int32_t>(object, "instance_template");
    schedule.instanceGroup = ReadColumn<int32_t>(object, "instance_group");
    schedule.instancePriority = ReadColumn<uint8_t>(object, "instance_priority");
    schedule.kind = ReadColumn<OuterKind>(object, "kind");
    schedule.rank = ReadColumn<int32_t>(object, "rank");
    schedule.duration = ReadColumn<int64_t>(object, "duration_ps");
    schedule.instance = ReadColumn<int32_t>(object, "instance");
    schedule.member = ReadColumn<int32_t>(object, "member");
    schedule.priority = ReadColumn<uint8_t>(object, "priority");
    schedule.depPtr = ReadColumn<int64_t>(object, "dep_ptr");
    schedule.depOp = ReadColumn<int32_t>(object, "dep_op");
    schedule.pools = ReadPools(object);
    schedule.Validate();
    return schedule;
}

TransportFigures
ReadTransport(const py::handle& model)
{
    TransportFigures figures;
    figures.payload = model.attr("payload_bytes").cast<uint32_t>();
    if (figures.payload == 0)
    {
        throw ConfigError("payload_bytes: has to be at least 1");
    }
    figures.format.headerBytes = model.attr("header_bytes").cast<int64_t>();
    figures.format.ackBytes = model.attr("ack_bytes").cast<int64_t>();
    figures.ackPolicy = ReadEnum(model, "ack_policy", AckPolicy::OUT_OF_BAND);
    figures.ackEvery = model.attr("ack_every").cast<uint32_t>();
    figures.isAckClassShared = model.attr("is_ack_class_shared").cast<bool>();
    figures.windowPolicy = ReadEnum(model, "window_policy", WindowPolicy::FIXED);
    figures.window = model.attr("window_bytes").cast<uint64_t>();
    figures.qpsPerPeer = model.attr("qps_per_peer").cast<uint32_t>();
    figures.isStriped = model.attr("is_striped").cast<bool>();
    figures.timeout = model.attr("timeout_ps").cast<TimePs>();
    figures.sendLatency = model.attr("send_latency_ps").cast<TimePs>();
    figures.receiveLatency = model.attr("receive_latency_ps").cast<TimePs>();
    figures.rounding = ReadEnum(model, "time_rounding", TimeRounding::NS_NEAREST);
    figures.congestionControl = model.attr("congestion_control").cast<std::string>();
    if (const py::object tcp = model.attr("tcp"); !tcp.is_none())
    {
        figures.tcp = ReadTcp(tcp);
        figures.host = ReadHost(model.attr("host"));
    }
    return figures;
}

EdgeOn
ReadNotifyOn(const py::handle& model)
{
    return ReadEnum(model, "notify_on", EdgeOn::ACKED);
}

RunOptions
ReadOptions(const py::handle& object)
{
    RunOptions options;
    options.seed = object.attr("seed").cast<uint64_t>();
    options.endpointDelay = object.attr("endpoint_delay_ps").cast<TimePs>();
    const py::object slowdown = object.attr("compute_slowdown");
    options.computeSlowdown.numerator = slowdown.attr("numerator").cast<uint64_t>();
    options.computeSlowdown.denominator = slowdown.attr("denominator").cast<uint64_t>();
    if (options.computeSlowdown.numerator < options.computeSlowdown.denominator)
    {
        throw ConfigError("compute_slowdown: has to be at least 1");
    }
    options.maxEvents = object.attr("max_events").cast<int64_t>();
    options.maxTime = object.attr("max_time_ps").cast<TimePs>();
    options.fault = FaultOf(object.attr("fault").cast<std::string>());
    options.analyticModel = AnalyticModelOf(object.attr("analytic_mode").cast<std::string>());
    for (const char* attributes : {"attributes", "ns3_defaults"})
    {
        for (const auto& [name, value] : py::dict(object.attr(attributes)))
        {
            options.ns3Defaults.emplace(name.cast<std::string>(), value.cast<std::string>());
        }
    }
    if (const py::object capture = object.attr("capture"); !capture.is_none())
    {
        options.capture.channels = capture.attr("channels").cast<std::vector<ChannelId>>();
        options.capture.paths = capture.attr("paths").cast<std::vector<std::string>>();
        options.capture.snapLength = capture.attr("snap_length_bytes").cast<uint32_t>();
        options.capture.maxFrames = capture.attr("max_frames").cast<int64_t>();
        options.capture.telemetryBytes = capture.attr("telemetry_bytes").cast<uint32_t>();
    }
    options.linkBins = object.attr("link_bins").cast<uint32_t>();
    if (options.linkBins % 2 != 0)
    {
        throw ConfigError("link_bins: has to be even, or 0");
    }
    if (const py::object watch = object.attr("watch"); !watch.is_none())
    {
        options.watch = ReadWatch(watch);
    }
    return options;
}

py::dict
GiveOutcome(RunOutcome&& outcome)
{
    py::dict columns;
    columns["exit_reason"] = outcome.exitReason;
    columns["end_ps"] = outcome.end;
    columns["op_start_ps"] = GiveColumn(std::move(outcome.opStart));
    columns["op_end_ps"] = GiveColumn(std::move(outcome.opEnd));
    columns["choice_picks"] = GiveColumn(std::move(outcome.choicePicks));
    MessageLog& log = outcome.messages;
    columns["message_instance"] = GiveColumn(std::move(log.instance));
    columns["message_op"] = GiveColumn(std::move(log.op));
    columns["message_src"] = GiveColumn(std::move(log.src));
    columns["message_dst"] = GiveColumn(std::move(log.dst));
    columns["message_size_bytes"] = GiveColumn(std::move(log.size));
    columns["message_posted_ps"] = GiveColumn(std::move(log.posted));
    columns["message_sent_ps"] = GiveColumn(std::move(log.sent));
    columns["message_delivered_ps"] = GiveColumn(std::move(log.delivered));
    columns["message_acked_ps"] = GiveColumn(std::move(log.acked));
    columns["message_delivered_bytes"] = GiveColumn(std::move(log.deliveredBytes));
    columns["message_retransmitted_packets"] = GiveColumn(std::move(log.repeatedPackets));
    columns["channel_line_bytes"] = GiveColumn(std::move(outcome.channelLineBytes));
    columns["channel_frames"] = GiveColumn(std::move(outcome.channelFrames));
    columns["channel_data_frames"] = GiveColumn(std::move(outcome.channelDataFrames));
    columns["channel_payload_bytes"] = GiveColumn(std::move(outcome.channelPayloadBytes));
    columns["channel_delivered_payload_bytes"] =
        GiveColumn(std::move(outcome.channelDeliveredPayloadBytes));
    columns["channel_dropped_frames"] = GiveColumn(std::move(outcome.channelDroppedFrames));
    columns["channel_busy_ps"] = GiveColumn(std::move(outcome.channelBusy));
    columns["channel_max_queue_bytes"] = GiveColumn(std::move(outcome.channelMaxQueueBytes));
    columns["channel_marked_frames"] = GiveColumn(std::move(outcome.channelMarkedFrames));
    columns["channel_pauses"] = GiveColumn(std::move(outcome.channelPauses));
    columns["channel_paused_ps"] = GiveColumn(std::move(outcome.channelPaused));
    columns["channel_pfc_frames"] = GiveColumn(std::move(outcome.channelPfcFrames));
    columns["channel_buffer_drops"] = GiveColumn(std::move(outcome.channelBufferDrops));
    columns["node_buffer_bytes"] = GiveColumn(std::move(outcome.nodeBufferBytes));
    columns["node_max_buffer_bytes"] = GiveColumn(std::move(outcome.nodeMaxBufferBytes));
    columns["bin_end_ps"] = GiveColumn(std::move(outcome.bins.end));
    columns["bin_line_bytes"] = GiveColumn(std::move(outcome.bins.lineBytes));
    columns["bin_max_queue_bytes"] = GiveColumn(std::move(outcome.bins.maxQueue));
    GivePauses(columns, outcome.pauses);
    columns["deadlocked_channels"] = outcome.deadlockedChannels;
    columns["rank_sent_payload_bytes"] = GiveColumn(std::move(outcome.rankSentPayloadBytes));
    columns["rank_received_payload_bytes"] =
        GiveColumn(std::move(outcome.rankReceivedPayloadBytes));
    GiveTcpColumns(columns, outcome);
    columns["counters"] = outcome.counters;
    py::list waiting;
    for (const WaitingItem& item : outcome.waiting)
    {
        waiting.append(GiveWaiting(item));
    }
    columns["waiting"] = waiting;
    GiveControls(columns, outcome.controls);
    columns["failure"] = GiveFailure(outcome.failure);
    if (outcome.log)
    {
        columns["log"] = GiveLog(std::move(*outcome.log));
    }
    return columns;
}

} // namespace ns3
