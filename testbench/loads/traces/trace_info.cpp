// Gathers the figures of a trace and prints them.
#include "testbench/loads/traces/trace_info.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "models/base/suggest.h"
#include "testbench/loads/traces/footprint.h"

namespace tlmssd {

namespace {

constexpr Bytes k_page_4k = 4096;

class Inspector {
 public:
  explicit Inspector(TraceInfo& info) : info_(info) {}

  void add(const Request& request) {
    TraceInfo::Operation& operation = info_.operations[static_cast<std::size_t>(request.opcode)];
    ++operation.requests;
    operation.bytes += request.bytes;
    info_.span = request.time;
    if (request.device >= info_.volumes.size()) {
      info_.volumes.resize(request.device + 1);
      last_end_.resize(request.device + 1, 0);
    }
    TraceInfo::Volume& volume = info_.volumes[request.device];
    ++volume.requests;
    if (request.opcode == HostOpcode::flush) return;
    const Bytes end = request.offset + request.bytes;
    volume.end = std::max(volume.end, end);
    info_.address_first = any_ ? std::min(info_.address_first, request.offset) : request.offset;
    info_.address_end = std::max(info_.address_end, end);
    any_ = true;
    if (request.offset % k_page_4k == 0 && end % k_page_4k == 0) ++operation.aligned_4k;
    if (request.offset % 512 == 0 && end % 512 == 0) ++operation.aligned_512;
    if (request.opcode != HostOpcode::trim) transfer(request, end);
  }
  void finish() {
    info_.footprint = footprint_.touched_bytes();
    info_.footprint_4k = footprint_.touched_4k();
    info_.written_footprint = footprint_.written_bytes();
    std::vector<TraceInfo::Size> sizes;
    for (const auto& [bytes, requests] : sizes_) sizes.push_back({bytes, requests});
    if (sizes.empty()) return;
    std::sort(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
    info_.size_min = sizes.front().bytes;
    info_.size_max = sizes.back().bytes;
    info_.size_p50 = percentile(sizes, 50);
    info_.size_p99 = percentile(sizes, 99);
    info_.size_mean =
        static_cast<double>(info_.of(HostOpcode::read).bytes + info_.of(HostOpcode::write).bytes) /
        static_cast<double>(info_.transfers());
    std::stable_sort(sizes.begin(), sizes.end(),
                     [](const auto& a, const auto& b) { return a.requests > b.requests; });
    if (sizes.size() > 12) sizes.resize(12);
    info_.sizes = sizes;
  }

 private:
  void transfer(const Request& request, Bytes end) {
    if (request.bytes != last_size_ || last_count_ == nullptr) {
      last_size_ = request.bytes;
      last_count_ = &sizes_[request.bytes];
    }
    ++*last_count_;
    footprint_.add(request.device, request.offset, request.bytes, request.opcode == HostOpcode::write);
    if (last_end_[request.device] == request.offset && end != request.bytes) ++info_.sequential;
    last_end_[request.device] = end;
  }
  /// Nearest rank.
  [[nodiscard]] Bytes percentile(const std::vector<TraceInfo::Size>& sizes, std::uint64_t percent) const {
    const std::uint64_t rank = (info_.transfers() * percent + 99) / 100;
    std::uint64_t seen = 0;
    for (const TraceInfo::Size& size : sizes) {
      seen += size.requests;
      if (seen >= rank) return size.bytes;
    }
    return sizes.back().bytes;
  }

  TraceInfo& info_;
  Footprint footprint_;
  std::unordered_map<Bytes, std::uint64_t> sizes_;  // sorted before it is shown; nodes do not move
  Bytes last_size_ = 0;
  std::uint64_t* last_count_ = nullptr;
  std::vector<Bytes> last_end_;
  bool any_ = false;
};

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string size_text(Bytes bytes) {
  static constexpr const char* k_units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit < 6) {
    value /= 1024;
    ++unit;
  }
  const bool whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
  return whole ? fmt::format("{:.0f} {}", value, k_units[unit])
               : fmt::format("{:.4g} {}", value, k_units[unit]);
}

std::string span_text(double seconds) {
  if (seconds >= 2 * 86400.0) return fmt::format("{:.4g} days", seconds / 86400);
  if (seconds >= 2 * 3600.0) return fmt::format("{:.4g} h", seconds / 3600);
  if (seconds >= 1) return fmt::format("{:.4g} s", seconds);
  return fmt::format("{:.4g} ms", seconds * 1e3);
}

/// What the reader of the figures should check.
std::string polarity_text(const TraceInfo& info, const TraceFormatInfo& format) {
  return fmt::format(
      "{} in format {}; read so, {:.1f} % of reads and writes are writes. If that is known to be wrong, read "
      "the "
      "file as format csv with the operation words exchanged",
      format.polarity, format.name, share(info.of(HostOpcode::write).requests, info.transfers()));
}

void add_operations(std::string& text, const TraceInfo& info) {
  for (const HostOpcode opcode : {HostOpcode::read, HostOpcode::write, HostOpcode::trim, HostOpcode::flush}) {
    const TraceInfo::Operation& operation = info.of(opcode);
    if (operation.requests == 0) continue;
    text += fmt::format("  {:<14}{:>12}  {:>5.1f} %  {:>11}", name_of(opcode), operation.requests,
                        share(operation.requests, info.requests()), size_text(operation.bytes));
    if (opcode != HostOpcode::flush) {
      text += fmt::format("   {:.1f} % aligned to 4 KiB, {:.1f} % to 512 B",
                          share(operation.aligned_4k, operation.requests),
                          share(operation.aligned_512, operation.requests));
    }
    text += '\n';
  }
}

void add_volumes(std::string& text, const TraceInfo& info) {
  text += fmt::format("volumes         {}\n", info.volumes.size());
  static constexpr std::size_t k_shown = 8;
  for (std::size_t i = 0; i < std::min(k_shown, info.volumes.size()); ++i) {
    const TraceInfo::Volume& volume = info.volumes[i];
    text +=
        fmt::format("  {:<14}{:>12}  up to {}\n", volume.name.empty() ? "(unnamed)" : printable(volume.name),
                    volume.requests, size_text(volume.end));
  }
  if (info.volumes.size() > k_shown) text += fmt::format("  and {} more\n", info.volumes.size() - k_shown);
}

}  // namespace

std::uint64_t TraceInfo::requests() const {
  std::uint64_t sum = 0;
  for (const Operation& operation : operations) sum += operation.requests;
  return sum;
}

std::uint64_t TraceInfo::transfers() const {
  return of(HostOpcode::read).requests + of(HostOpcode::write).requests;
}

double TraceInfo::overwrite_rate() const {
  if (written_footprint == 0) return 0;
  return static_cast<double>(of(HostOpcode::write).bytes) / static_cast<double>(written_footprint);
}

double TraceInfo::requests_per_second() const {
  return span == 0 ? 0 : static_cast<double>(requests()) / seconds();
}

TraceInfo inspect_requests(RequestSource& source, std::uint64_t most) {
  TraceInfo info;
  Inspector inspector(info);
  Request request;
  for (std::uint64_t n = 0; (most == 0 || n < most) && source.next(request); ++n) inspector.add(request);
  inspector.finish();
  return info;
}

TraceInfo inspect_trace(TraceReader& reader, std::uint64_t most) {
  TraceInfo info = inspect_requests(reader, most);
  info.file = reader.where().substr(0, reader.where().rfind(':'));
  info.description = reader.description();
  info.polarity = polarity_text(info, reader.format());
  info.has_times = reader.has_times();
  info.span = reader.elapsed();
  info.out_of_order = reader.out_of_order();
  info.largest_disorder = reader.largest_disorder();
  info.zero_size = reader.zero_size();
  for (std::size_t i = 0; i < info.volumes.size(); ++i) info.volumes[i].name = reader.volumes()[i];
  return info;
}

TraceInfo inspect_trace(const TraceFile& file, std::uint64_t most) {
  TraceReader reader(file);
  return inspect_trace(reader, most);
}

std::string to_text(const TraceInfo& info) {
  std::string text = fmt::format("{}\nformat          {}\nrequests        {}\n", info.file, info.description,
                                 info.requests());
  add_operations(text, info);
  if (info.transfers() > 0) {
    text += fmt::format("sizes           {} to {}, mean {}, p50 {}, p99 {}\n", size_text(info.size_min),
                        size_text(info.size_max), size_text(static_cast<Bytes>(info.size_mean)),
                        size_text(info.size_p50), size_text(info.size_p99));
    text += "  commonest     ";
    for (std::size_t i = 0; i < std::min<std::size_t>(info.sizes.size(), 5); ++i) {
      text += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ", size_text(info.sizes[i].bytes),
                          share(info.sizes[i].requests, info.transfers()));
    }
    text += '\n';
  }
  if (info.has_times) {
    const double rate = info.requests_per_second();
    text += fmt::format("time span       {}, {} requests per second\n", span_text(info.seconds()),
                        rate < 1000 ? fmt::format("{:.4g}", rate) : fmt::format("{:.0f}", rate));
  } else {
    text += "time span       none: the file has no time stamps\n";
  }
  if (info.out_of_order > 0) {
    text += fmt::format("  disorder      {} stamps out of order, by at most {}\n", info.out_of_order,
                        span_text(static_cast<double>(info.largest_disorder) * 1e-12));
  }
  if (info.zero_size > 0) text += fmt::format("  skipped       {} requests without size\n", info.zero_size);
  add_volumes(text, info);
  text +=
      fmt::format("addresses       {} to {}\n", size_text(info.address_first), size_text(info.address_end));
  text += fmt::format("footprint       {} in 512 B sectors, {} in 4 KiB pages\n", size_text(info.footprint),
                      size_text(info.footprint_4k * k_page_4k));
  if (info.written_footprint > 0) {
    text += fmt::format("overwrites      {:.3g} bytes written per distinct byte ({} distinct)\n",
                        info.overwrite_rate(), size_text(info.written_footprint));
  }
  text +=
      fmt::format("sequential      {:.1f} % of reads and writes\n", share(info.sequential, info.transfers()));
  return text + fmt::format("polarity        {}\n", info.polarity);
}

std::string to_json(const TraceInfo& info) {
  nlohmann::ordered_json json;
  json["file"] = info.file;
  json["format"] = info.description;
  json["polarity"] = info.polarity;
  json["requests"] = info.requests();
  for (const HostOpcode opcode : {HostOpcode::read, HostOpcode::write, HostOpcode::trim, HostOpcode::flush}) {
    const TraceInfo::Operation& operation = info.of(opcode);
    json["operations"][std::string(name_of(opcode))] = {{"requests", operation.requests},
                                                        {"bytes", operation.bytes},
                                                        {"aligned_4k", operation.aligned_4k},
                                                        {"aligned_512", operation.aligned_512}};
  }
  json["size_bytes"] = {{"min", info.size_min},
                        {"max", info.size_max},
                        {"mean", info.size_mean},
                        {"p50", info.size_p50},
                        {"p99", info.size_p99}};
  for (const TraceInfo::Size& size : info.sizes) {
    json["commonest_sizes"].push_back({{"bytes", size.bytes}, {"requests", size.requests}});
  }
  json["has_times"] = info.has_times;
  if (info.span <= std::numeric_limits<std::int64_t>::max()) {
    json["span_ps"] = static_cast<std::int64_t>(info.span);
  } else {
    json["span_ps"] = static_cast<double>(info.span);
  }
  json["requests_per_second"] = info.requests_per_second();
  json["out_of_order"] = info.out_of_order;
  json["largest_disorder_ps"] = info.largest_disorder;
  json["zero_size_skipped"] = info.zero_size;
  for (const TraceInfo::Volume& volume : info.volumes) {
    json["volumes"].push_back(
        {{"name", volume.name}, {"requests", volume.requests}, {"end_bytes", volume.end}});
  }
  json["address_first_bytes"] = info.address_first;
  json["address_end_bytes"] = info.address_end;
  json["footprint_bytes"] = info.footprint;
  json["footprint_4k_pages"] = info.footprint_4k;
  json["written_footprint_bytes"] = info.written_footprint;
  json["overwrite_rate"] = info.overwrite_rate();
  json["sequential"] = info.sequential;
  return json.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tlmssd
