// SPDX-License-Identifier: GPL-2.0-only
// Flows over given channels in SimGrid: reads them from standard input, prints when each ends, in seconds.
//
//   HOSTS CHANNELS ROUTES FLOWS, then for each channel its rate in B/s; for each route source, destination, number of
//   channels and these; for each flow source, destination, start in seconds and bytes.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace s4u = simgrid::s4u;

int
main(int argc, char** argv)
{
    s4u::Engine engine(&argc, argv);
    size_t hostCount = 0;
    size_t channelCount = 0;
    size_t routeCount = 0;
    size_t flowCount = 0;
    std::cin >> hostCount >> channelCount >> routeCount >> flowCount;
    s4u::NetZone* zone = s4u::create_full_zone("network");
    std::vector<s4u::Host*> hosts;
    for (size_t i = 0; i < hostCount; ++i)
    {
        hosts.push_back(zone->create_host("host" + std::to_string(i), 1.0)->seal());
    }
    std::vector<s4u::Link*> channels;
    for (size_t i = 0; i < channelCount; ++i)
    {
        double rate = 0.0;
        std::cin >> rate;
        channels.push_back(zone->create_link("channel" + std::to_string(i), rate)->set_latency(0.0)->seal());
    }
    for (size_t i = 0; i < routeCount; ++i)
    {
        size_t source = 0;
        size_t destination = 0;
        size_t hops = 0;
        std::cin >> source >> destination >> hops;
        std::vector<s4u::LinkInRoute> route;
        for (size_t hop = 0; hop < hops; ++hop)
        {
            size_t channel = 0;
            std::cin >> channel;
            route.emplace_back(channels.at(channel));
        }
        zone->add_route(hosts.at(source)->get_netpoint(),
                        hosts.at(destination)->get_netpoint(),
                        nullptr,
                        nullptr,
                        route,
                        false);
    }
    zone->seal();
    for (size_t i = 0; i < flowCount; ++i)
    {
        size_t source = 0;
        size_t destination = 0;
        double start = 0.0;
        uint64_t bytes = 0;
        std::cin >> source >> destination >> start >> bytes;
        s4u::Actor::create("flow" + std::to_string(i), hosts.at(source), [=, &hosts] {
            s4u::this_actor::sleep_until(start);
            s4u::Comm::sendto(hosts[source], hosts[destination], bytes);
            std::printf("%zu %.17g\n", i, s4u::Engine::get_clock());
        });
    }
    engine.run();
    return std::cin.good() || std::cin.eof() ? 0 : 1;
}
