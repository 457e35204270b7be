// SPDX-License-Identifier: GPL-2.0-only
//
// A direct all-to-all over TCP as ns-3's own tutorials would write it: hosts on point-to-point
// links to one IP router, FqCoDel on all its ports, a socket for each pair. Connections are opened
// first; what is timed begins when all are established.
//
// Prints one line of JSON. See benchmarks/tcp.py, which builds this and runs it beside our engine.

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <ctime>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint16_t PORT = 9;

/// Counts of all sockets, from ns-3's own trace sources.
struct Counts
{
    uint64_t dataSegments{0};
    uint64_t acks{0};
    uint64_t retransmissions{0};
    uint64_t delivered{0};
    uint32_t established{0};
    Time last; ///< When bytes were read the last time.
};

/// Sends a number of bytes over one connection as fast as its socket takes them.
class Sender
{
  public:
    Sender(Ptr<Socket> socket, uint64_t bytes)
        : m_socket(socket),
          m_left(bytes)
    {
        m_socket->SetSendCallback([this](Ptr<Socket>, uint32_t) { Fill(); });
    }

    void Start()
    {
        m_hasStarted = true;
        Fill();
    }

  private:
    void Fill()
    {
        while (m_hasStarted && m_left > 0)
        {
            const auto room = std::min<uint64_t>(m_socket->GetTxAvailable(), m_left);
            if (room == 0 || m_socket->Send(Create<Packet>(static_cast<uint32_t>(room))) < 0)
            {
                return;
            }
            m_left -= room;
        }
    }

    Ptr<Socket> m_socket;
    uint64_t m_left;
    bool m_hasStarted{false};
};

double
CpuSeconds()
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t ranks = 16;
    uint64_t bytesPerPeer = 1 << 20;
    bool isOneFlow = false;
    uint32_t mtu = 9000;
    uint32_t buffer = 4 << 20;
    std::string rate = "100Gbps";
    std::string delay = "500ns";
    std::string variant = "ns3::TcpDctcp";
    CommandLine cmd(__FILE__);
    cmd.AddValue("ranks", "hosts on the router", ranks);
    cmd.AddValue("bytesPerPeer", "bytes from each host to each other one", bytesPerPeer);
    cmd.AddValue("isOneFlow", "from host 0 to host 1 alone", isOneFlow);
    cmd.AddValue("mtu", "largest IP packet, B", mtu);
    cmd.AddValue("buffer", "send and receive buffer of a socket, B", buffer);
    cmd.AddValue("rate", "of each link", rate);
    cmd.AddValue("delay", "of each link", delay);
    cmd.AddValue("variant", "TypeId of the congestion control", variant);
    cmd.Parse(argc, argv);

    Time::SetResolution(Time::PS);
    const double begin = CpuSeconds();
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(TypeId::LookupByName(variant)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mtu - 52));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(5)));
    // Shorter than the timeout, or a last segment without a partner is sent again.
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::RttEstimator::InitialEstimation", TimeValue(MicroSeconds(200)));
    if (variant == "ns3::TcpDctcp")
    {
        Config::SetDefault("ns3::FqCoDelQueueDisc::UseEcn", BooleanValue(true));
        Config::SetDefault("ns3::FqCoDelQueueDisc::CeThreshold", TimeValue(MicroSeconds(50)));
        Config::SetDefault("ns3::FqCoDelQueueDisc::UseL4s", BooleanValue(false));
    }

    NodeContainer hosts(ranks);
    Ptr<Node> router = CreateObject<Node>();
    InternetStackHelper internet;
    internet.Install(hosts);
    internet.Install(router);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetDeviceAttribute("Mtu", UintegerValue(mtu));
    link.SetChannelAttribute("Delay", StringValue(delay));
    TrafficControlHelper fqCoDel;
    fqCoDel.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize", StringValue("100000p"));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    std::vector<Ipv4Address> hostAddress;
    Ipv4StaticRoutingHelper routing;
    for (uint32_t i = 0; i < ranks; ++i)
    {
        const NetDeviceContainer ends = link.Install(hosts.Get(i), router);
        fqCoDel.Install(ends);
        const Ipv4InterfaceContainer interfaces = addresses.Assign(ends);
        addresses.NewNetwork();
        hostAddress.push_back(interfaces.GetAddress(0));
        routing.GetStaticRouting(hosts.Get(i)->GetObject<Ipv4>())
            ->SetDefaultRoute(interfaces.GetAddress(1), 1);
    }

    Counts counts;
    std::vector<Sender> senders;
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    for (uint32_t i = 0; i < (isOneFlow ? 1 : ranks); ++i)
    {
        for (uint32_t step = 1; step < (isOneFlow ? 2 : ranks); ++step)
        {
            pairs.emplace_back(i, (i + step) % ranks);
        }
    }
    senders.reserve(pairs.size());

    const auto count =
        [&counts](Ptr<const Packet> packet, const TcpHeader&, Ptr<const TcpSocketBase>) {
            ++(packet->GetSize() > 0 ? counts.dataSegments : counts.acks);
        };
    const Callback<void, Ptr<const Packet>, const TcpHeader&, Ptr<const TcpSocketBase>> tx(count);
    using Retransmission = Callback<void,
                                    Ptr<const Packet>,
                                    const TcpHeader&,
                                    const Address&,
                                    const Address&,
                                    Ptr<const TcpSocketBase>>;
    const Retransmission repeat([&counts](Ptr<const Packet>,
                                          const TcpHeader&,
                                          const Address&,
                                          const Address&,
                                          Ptr<const TcpSocketBase>) { ++counts.retransmissions; });
    for (uint32_t i = 0; i < ranks; ++i)
    {
        Ptr<Socket> listener = Socket::CreateSocket(hosts.Get(i), TcpSocketFactory::GetTypeId());
        listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        listener->Listen();
        listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                    [&counts, &tx](Ptr<Socket> socket, const Address&) {
                                        socket->TraceConnectWithoutContext("Tx", tx);
                                        socket->SetRecvCallback([&counts](Ptr<Socket> readable) {
                                            while (Ptr<Packet> packet = readable->Recv())
                                            {
                                                counts.delivered += packet->GetSize();
                                                counts.last = Simulator::Now();
                                            }
                                        });
                                    });
    }
    double opened = 0;
    const Time start = MilliSeconds(100);
    for (const auto& [src, dst] : pairs)
    {
        Ptr<Socket> socket = Socket::CreateSocket(hosts.Get(src), TcpSocketFactory::GetTypeId());
        socket->SetConnectCallback([&counts](Ptr<Socket>) { ++counts.established; },
                                   MakeNullCallback<void, Ptr<Socket>>());
        socket->TraceConnectWithoutContext("Tx", tx);
        socket->TraceConnectWithoutContext("Retransmission", repeat);
        socket->Bind();
        // Not before the simulation runs: queue discs come to be at time 0.
        Simulator::Schedule(MicroSeconds(1), [socket, to = hostAddress[dst]] {
            socket->Connect(InetSocketAddress(to, PORT));
        });
        senders.emplace_back(socket, bytesPerPeer);
    }
    uint64_t eventsBefore = 0;
    Simulator::Schedule(start, [&] {
        NS_ABORT_MSG_UNLESS(counts.established == pairs.size(),
                            "connections are not all established");
        opened = CpuSeconds();
        eventsBefore = Simulator::GetEventCount();
        counts.dataSegments = counts.acks = counts.retransmissions = 0;
        for (auto& sender : senders)
        {
            sender.Start();
        }
    });
    Simulator::Run();
    const double end = CpuSeconds();
    NS_ABORT_MSG_UNLESS(counts.delivered == bytesPerPeer * pairs.size(),
                        "not all bytes were delivered");
    std::cout << "{\"data_segments\": " << counts.dataSegments << ", \"acks\": " << counts.acks

              << ", \"retransmissions\": " << counts.retransmissions
              << ", \"events\": " << Simulator::GetEventCount() - eventsBefore
              << ", \"time_us\": " << (counts.last - start).GetMicroSeconds()
              << ", \"setup_cpu_s\": " << opened - begin
              << ", \"simulation_cpu_s\": " << end - opened << "}\n";
    Simulator::Destroy();
    return 0;
}
