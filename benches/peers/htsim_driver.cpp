// Runs a job of our benchmarks on csg-htsim, which the user has built: TCP sources and sinks over queues and pipes.
//
//   htsim_driver JOB [count]
//
// A job is lines: `mss BYTES`, `stop PS`, `link RATE_BPS QUEUE_BYTES DELAY_PS`, and
// `flow START_PS WINDOW_BYTES HOPS LINK... HOPS LINK...` with the links of data and of acknowledgements by number. It prints JSON:
// packets that sinks were given, processor seconds of the loop of events, the largest resident set, and with `count` packet-hops.

#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "eventlist.h"
#include "pipe.h"
#include "queue.h"
#include "route.h"
#include "tcp.h"

namespace {

uint64_t hops = 0;

// Counting costs time: a run counts or is timed.
class CountedQueue : public Queue {
  public:
    using Queue::Queue;

  protected:
    void completeService() override {
        hops += 1;
        Queue::completeService();
    }
};

struct Link {
    Queue* queue;
    Pipe* pipe;
};

Route* route_over(std::ifstream& job, const std::vector<Link>& links, PacketSink* end) {
    size_t count = 0;
    job >> count;
    auto* route = new Route();
    for (size_t hop = 0; hop < count; hop++) {
        size_t link = 0;
        job >> link;
        route->push_back(links.at(link).queue);
        route->push_back(links.at(link).pipe);
    }
    route->push_back(end);
    return route;
}

double processor_s() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// The largest resident set. What the parent held before exec does not count.
long peak_kib() {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word) {
        if (word == "VmHWM:") {
            long kib = 0;
            status >> kib;
            return kib;
        }
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::cerr << "usage: htsim_driver JOB [count]\n";
        return 2;
    }
    std::ifstream job(argv[1]);
    const bool is_counted = argc > 2 && std::string(argv[2]) == "count";
    EventList events;
    std::vector<Link> links;
    std::vector<TcpSink*> sinks;
    std::unique_ptr<TcpRtxTimerScanner> scanner;
    std::string what;
    while (job >> what) {
        if (what == "mss") {
            int bytes = 0;
            job >> bytes;
            Packet::set_packet_size(bytes);
        } else if (what == "stop") {
            simtime_picosec stop = 0;
            job >> stop;
            EventList::setEndtime(stop);
            scanner.reset(new TcpRtxTimerScanner(timeFromMs(10), events));
        } else if (what == "link") {
            linkspeed_bps rate = 0;
            mem_b bytes = 0;
            simtime_picosec delay = 0;
            job >> rate >> bytes >> delay;
            Queue* queue =
                is_counted ? new CountedQueue(rate, bytes, events, nullptr) : new Queue(rate, bytes, events, nullptr);
            links.push_back({queue, new Pipe(delay, events)});
        } else if (what == "flow") {
            simtime_picosec start = 0;
            uint32_t window = 0;
            job >> start >> window;
            auto* source = new TcpSrc(nullptr, nullptr, events);
            auto* sink = new TcpSink();
            source->_maxcwnd = window;
            // Slow start goes on until the first loss or the cap, as with ours.
            source->_ssthresh = 0xffffffff;
            Route* out = route_over(job, links, sink);
            Route* back = route_over(job, links, source);
            source->connect(*out, *back, *sink, start);
            scanner->registerTcp(*source);
            sinks.push_back(sink);
        } else {
            std::cerr << "unknown line: " << what << "\n";
            return 2;
        }
    }
    const double began = processor_s();
    while (EventList::doNextEvent()) {
    }
    const double took = processor_s() - began;
    uint64_t bytes = 0;
    for (const TcpSink* sink : sinks) {
        bytes += sink->_packets;  // it counts bytes
    }
    std::cout << "{\"packets_delivered\": " << bytes / Packet::data_packet_size() << ", \"process_cpu_s\": " << took
              << ", \"packet_hops\": " << hops << ", \"peak_bytes\": " << peak_kib() * 1024 << "}\n";
    return 0;
}
