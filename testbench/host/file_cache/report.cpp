// What is said about a file cache: statistics, what a snapshot depends on and holds, what a stalled
// run waits for.
#include <fmt/format.h>

#include "models/base/report_within.h"
#include "testbench/host/file_cache/file_cache.h"

namespace tlmssd {

void FileCache::report(StatisticsSink& sink) const {
  const Statistics& s = stats_;
  const auto bytes = [this](std::uint64_t files) { return files * config_.file_size; };
  const auto share = [&](std::uint64_t of) {
    return s.accesses == 0 ? 0 : static_cast<double>(of) / static_cast<double>(s.accesses);
  };
  sink.open("file_cache", "software of the host that keeps copies of the network's files on the drive");
  sink.text("policy", config_.admission, "which files are written to the drive");
  sink.value("accesses", s.accesses, "accesses", "reads of files or of parts of them");
  sink.value("hits", s.hits, "accesses", "that found a copy on the drive");
  sink.value("hits while written", s.hits_unwritten, "accesses",
             "of these, answered from the host's memory because the drive did not have the copy yet");
  sink.value("memory hits", s.memory_hits, "accesses", "that found the file held back in the host's memory");
  sink.value("misses", s.misses, "accesses", "that had a file fetched");
  sink.value("joined", s.joined, "accesses", "that waited for a fetch under way");
  sink.value("hit ratio", share(s.hits + s.memory_hits), "share", "hits and memory hits of all accesses");
  sink.value("files written", s.written, "files", "to the drive");
  sink.value("bytes written", s.bytes_written, "B", "to the drive");
  sink.value("evicted", s.evicted, "files", "trimmed to make room or because the limit had fallen");
  sink.value("rejected", s.rejected, "files", "that the policy did not write");
  sink.value("without room", s.without_room, "files",
             "that the policy would have written, but for the limit or busy slots");
  sink.value("failed writes", s.failed_writes, "files", "that the drive did not take");
  sink.value("refetched after error", s.refetched, "accesses", "whose copy could not be read");
  sink.value("network bytes", s.bytes_fetched, "B", "fetched over the network");
  sink.value("network wait", static_cast<double>(s.network) * 1e-12, "s",
             "time in which accesses waited for the network");
  sink.value("space used", bytes(store_.used()), "B", "copies on the drive at the end");
  sink.value("space limit", limit(), "B", "what the policy allows them at the end");
  sink.value("space", bytes(store_.slots()), "B", "set aside for them");
  if (apps_) sink.value("deleted", s.deleted, "files", "by their apps");
  report_within(sink, "admission policy " + config_.admission, *policy_);
  sink.close();
}

Identity FileCache::identity() const {
  Identity identity;
  identify_choice(identity, "file_cache", "admission", config_.admission, admission_family().infos(),
                  config_.admission_policy.get());
  identify(identity, "file_cache", config_);
  if (config_.apps) {
    identify(identity, "file_cache.apps", *config_.apps);
    identity.emplace_back("seed", std::to_string(config_.seed));  // of what files there are
  }
  return identity;
}

void FileCache::archive(Archive& a) {
  a(store_);
  a(fetched_);
  a(fetches_);
  a(read_only_);
  policy_->archive(a);
}

void FileCache::describe_stall(std::string& text) const {
  text += fmt::format(
      "file cache: {} commands under way, {} fetches, {} fetches, writes and trims in all, {} of {} slots "
      "used",
      host_.under_way().size(), under_way_.size(), background_, store_.used(), store_.slots());
  host_.describe(text);
}

}  // namespace tlmssd
