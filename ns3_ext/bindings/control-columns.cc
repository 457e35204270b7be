// SPDX-License-Identifier: GPL-2.0-only
#include "control-columns.h"

#include "columns.h"

#include <utility>

namespace ns3
{

namespace
{

/// One figure of all records, as a column.
template <typename T, typename FIGURE>
py::array_t<T>
Column(const std::vector<ControlRecord>& records, const FIGURE& figure)
{
    std::vector<T> column;
    column.reserve(records.size());
    for (const ControlRecord& record : records)
    {
        column.push_back(static_cast<T>(figure(record)));
    }
    return GiveColumn(std::move(column));
}

} // namespace

void
GiveControls(py::dict& columns, const std::vector<ControlRecord>& records)
{
    using Record = const ControlRecord&;
    columns["control_src"] = Column<int32_t>(records, [](Record r) { return r.src; });
    columns["control_dst"] = Column<int32_t>(records, [](Record r) { return r.dst; });
    columns["control_priority"] = Column<uint8_t>(records, [](Record r) { return r.priority; });
    columns["control_queue_pair"] = Column<int64_t>(records, [](Record r) { return r.number; });
    columns["control_notifications"] =
        Column<int64_t>(records, [](Record r) { return r.notifications; });
    columns["control_decreases"] = Column<int64_t>(records, [](Record r) { return r.decreases; });
    columns["control_line_rate_bps"] =
        Column<int64_t>(records, [](Record r) { return r.lineRate; });
    columns["control_rate_bps"] = Column<int64_t>(records, [](Record r) { return r.rate; });
    columns["control_least_rate_bps"] =
        Column<int64_t>(records, [](Record r) { return r.leastRate; });
    columns["control_window_bytes"] = Column<int64_t>(records, [](Record r) { return r.window; });
    columns["control_least_window_bytes"] =
        Column<int64_t>(records, [](Record r) { return r.leastWindow; });
    columns["control_slow_ps"] = Column<int64_t>(records, [](Record r) { return r.slow; });
}

} // namespace ns3
