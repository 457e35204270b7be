// SPDX-License-Identifier: GPL-2.0-only
#include "../fabric/route-table.h"
#include "bindings.h"
#include "columns.h"
#include "descriptions.h"

#include <algorithm>
#include <span>
#include <string>

namespace ns3
{

namespace
{

/// A table with the platform that it refers to.
class OwningRouteTable
{
  public:
    OwningRouteTable(const py::handle& arrays, uint64_t seed)
        : m_platform(ReadPlatform(arrays)),
          m_routes(m_platform, seed)
    {
    }

    py::tuple Paths(const py::array_t<int32_t, py::array::c_style>& src,
                    const py::array_t<int32_t, py::array::c_style>& dst,
                    const py::array_t<int32_t, py::array::c_style>& queuePair)
    {
        if (src.ndim() != 1 || src.size() != dst.size() || src.size() != queuePair.size())
        {
            throw ConfigError("paths: src, dst and qp have to be equally long columns");
        }
        std::vector<int64_t> ptr{0};
        std::vector<int32_t> channels;
        std::vector<ChannelId> path;
        for (py::ssize_t i = 0; i < src.size(); ++i)
        {
            m_routes.FindPath(FlowIdentity{static_cast<RankId>(src.at(i)),
                                           static_cast<RankId>(dst.at(i)),
                                           static_cast<uint32_t>(queuePair.at(i))},
                              path);
            for (const ChannelId channel : path)
            {
                channels.push_back(static_cast<int32_t>(channel));
            }
            ptr.push_back(static_cast<int64_t>(channels.size()));
        }
        return py::make_tuple(GiveColumn(std::move(ptr)), GiveColumn(std::move(channels)));
    }

    py::array_t<int32_t> FirstChannels(int64_t src, int64_t dst)
    {
        return Give(m_routes.FirstChannels(Rank(src), Rank(dst)));
    }

    py::array_t<int32_t> NextChannels(int64_t dst, int64_t node)
    {
        if (node < 0 || node >= m_platform.Nodes())
        {
            throw ConfigError("next_channels: there is no node " + std::to_string(node));
        }
        return Give(m_routes.NextChannels(Rank(dst), static_cast<NodeIndex>(node)));
    }

    py::tuple Ways(int64_t src, int64_t dst, int64_t most)
    {
        std::vector<int64_t> ptr{0};
        std::vector<int32_t> channels;
        for (const std::vector<ChannelId>& way :
             m_routes.AllWays(Rank(src),
                              Rank(dst),
                              static_cast<size_t>(std::max<int64_t>(most, 0))))
        {
            channels.insert(channels.end(), way.begin(), way.end());
            ptr.push_back(static_cast<int64_t>(channels.size()));
        }
        return py::make_tuple(GiveColumn(std::move(ptr)), GiveColumn(std::move(channels)));
    }

  private:
    RankId Rank(int64_t rank) const
    {
        if (rank < 0 || rank >= m_platform.Ranks())
        {
            throw ConfigError("route: rank " + std::to_string(rank) + " is not on the platform");
        }
        return static_cast<RankId>(rank);
    }

    static py::array_t<int32_t> Give(std::span<const ChannelId> channels)
    {
        return GiveColumn(std::vector<int32_t>(channels.begin(), channels.end()));
    }

    const PlatformDescription m_platform;
    RouteTable m_routes;
};

} // namespace

void
BindRouteTable(py::module_& module)
{
    py::class_<OwningRouteTable>(
        module,
        "RouteTable",
        "Shortest paths, with equal ones chosen by the platform's routing, as flows take them.")
        .def(py::init<py::object, uint64_t>(), py::arg("platform"), py::arg("seed"))
        .def("paths",
             &OwningRouteTable::Paths,
             py::arg("src").noconvert(),
             py::arg("dst").noconvert(),
             py::arg("qp").noconvert(),
             "Ways of flows: (ptr i64[k + 1], channel i32[...]), rows compressed.\n\n"
             "src, dst (ranks) and qp (queue pair numbers) are i32[k]. Raises ConfigError when "
             "there is no way.")
        .def("first_channels",
             &OwningRouteTable::FirstChannels,
             py::arg("src"),
             py::arg("dst"),
             "First channels of all shortest ways of a pair of ranks: i32, in order of link.")
        .def("next_channels",
             &OwningRouteTable::NextChannels,
             py::arg("dst"),
             py::arg("node"),
             "Channels by which a frame that passes through a node may go on to a rank: i32.")
        .def("ways",
             &OwningRouteTable::Ways,
             py::arg("src"),
             py::arg("dst"),
             py::arg("most"),
             "All shortest ways of a pair of ranks: (ptr i64[k + 1], channel i32[...]).\n\n"
             "Raises ConfigError when there is none, or more than `most`.");
}

} // namespace ns3
