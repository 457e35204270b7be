// SPDX-License-Identifier: GPL-2.0-only
#include "../fabric/route-table.h"
#include "bindings.h"
#include "columns.h"
#include "descriptions.h"

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

  private:
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
        "Shortest paths with seeded equal-cost choices, as flows take them.")
        .def(py::init<py::object, uint64_t>(), py::arg("platform"), py::arg("seed"))
        .def("paths",
             &OwningRouteTable::Paths,
             py::arg("src").noconvert(),
             py::arg("dst").noconvert(),
             py::arg("qp").noconvert(),
             "Ways of flows: (ptr i64[k + 1], channel i32[...]), rows compressed.\n\n"
             "src, dst (ranks) and qp (queue pair numbers) are i32[k]. Raises ConfigError when "
             "there is no way.");
}

} // namespace ns3
