#include "testbench/app/topics.h"

namespace tlmssd {

const std::vector<Topic>& scenario_topics() {
  static const std::vector<Topic> topics = {
      {{"tail", "tail latency", "p99", "p99.9", "percentile", "outliers", "jitter"},
       {"ssd.flash.suspend", "ssd.flash.scheduling", "firmware.gc.policy", "firmware.gc.idle_after",
        "ssd.flash.spare_factor", "ssd.flash.over_provisioning", "targets", "report.command_log",
        "report.timeline"}},
      {{"qos", "sla", "quality of service"}, {"targets"}},
      {{"over-provisioning", "overprovisioning", "op", "spare", "spare area"},
       {"ssd.flash.over_provisioning", "ssd.flash.spare_factor", "ssd.flash.user_capacity"}},
      {{"write amplification", "wa", "waf"},
       {"ssd.flash.spare_factor", "ssd.flash.over_provisioning", "firmware.gc.policy",
        "firmware.allocation.streams", "precondition"}},
      {{"steady state", "snia", "pts"},
       {"precondition.until", "precondition.metric", "precondition.round", "precondition.most_rounds",
        "run.until", "run.metric", "run.round", "run.most_rounds"}},
      {{"garbage collection", "gc"}, {"firmware.gc"}},
      {{"endurance", "lifetime", "dwpd", "tbw"}, {"ssd.flash.part.endurance", "firmware.wear", "age"}},
      {{"queue depth", "iodepth", "qd"},
       {"load.iodepth", "load.queue_depth", "ssd.host.queue_depth", "ssd.host.queues"}},
      {{"block size", "blocksize", "io size", "request size", "transfer size"}, {"load.bs"}},
      {{"fdp", "flexible data placement", "streams", "multi-stream", "ruh", "reclaim unit handle"},
       {"firmware.streams", "load.stream"}},
      {{"hmb", "host memory buffer"}, {"ssd.host.memory_buffer", "firmware.mapping.cache_in"}},
      {{"slc cache", "slc-cache", "turbo write", "pseudo-slc"}, {"firmware.pslc"}},
      {{"throughput", "bandwidth limit", "iops limit"}, {"load.rate", "load.rate_iops"}},
      {{"mdts"}, {"ssd.host.max_transfer", "run.long_requests"}},
      {{"discard", "deallocate", "unmap"}, {"precondition.trim", "load.rw"}},
      {{"think time"}, {"load.thinktime", "load.thinktime_blocks"}},
      {{"wear leveling", "leveling"}, {"firmware.wear"}},
      {{"write cache", "volatile cache"}, {"firmware.buffer", "firmware.cache"}},
      {{"hit ratio", "hit rate", "cache hits"},
       {"firmware.cache", "firmware.mapping.cache_in", "file_cache"}},
      {{"blktrace", "blkparse", "replay"}, {"load.trace", "load.format", "load.action", "load.pacing"}},
      {{"hot cold", "hot/cold", "hot and cold", "skew", "locality"},
       {"load.random_distribution", "load.hot_set", "precondition.random_distribution",
        "firmware.allocation.streams", "firmware.gc.policy"}}};
  return topics;
}

}  // namespace tlmssd
