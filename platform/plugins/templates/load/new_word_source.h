// new-name: bursts of requests that follow each other in order, each at a place of its own, with
// pauses between them.
#pragma once

#include "models/base/random.h"
#include "testbench/loads/requests/request_family.h"

struct NewTypeConfig {
  std::uint64_t bursts = 1000;
  std::uint32_t length = 32;
  tlmssd::Bytes size = 16384;
  double reads = 0.7;
  tlmssd::Picoseconds gap = 2'000'000;
  tlmssd::Picoseconds pause = 1'000'000'000;
  static const tlmssd::ParameterTable<NewTypeConfig>& parameters() {
    static const auto table =
        tlmssd::ParameterTable<NewTypeConfig>{}
            .integer("bursts", &NewTypeConfig::bursts, {1, 1e12}, "bursts in all")
            .integer("length", &NewTypeConfig::length, {1, 1e6}, "requests of a burst")
            .bytes("burst_size", &NewTypeConfig::size, {512, 1 << 20}, "size of a request")
            .share("reads", &NewTypeConfig::reads, {0, 1}, "share of bursts that read; the others write")
            .time("gap", &NewTypeConfig::gap, {0, 1e12}, "between requests of a burst")
            .time("pause", &NewTypeConfig::pause, {0, 1e15}, "between bursts");
    return table;
  }
};

class NewTypeSource final : public tlmssd::RequestSource {
 public:
  static constexpr std::string_view k_name = "new-name";
  static constexpr std::string_view k_summary = "sequential bursts with pauses between them";
  using Config = NewTypeConfig;

  NewTypeSource(const Config& config, const tlmssd::SourceContext& context)
      : config_(config), places_(context.bytes / config.size), random_(context.seed, "new-name") {}

  bool next(tlmssd::Request& request) override {
    if (left_ == 0 && !begin()) return false;
    request.opcode = opcode_;
    request.offset = place_ * config_.size;
    request.bytes = config_.size;
    request.time = time_;
    place_ = (place_ + 1) % places_;
    time_ += --left_ > 0 ? config_.gap : config_.pause;
    return true;
  }
  // 0 would mean: not known.
  [[nodiscard]] std::uint64_t expected() const override { return config_.bursts * config_.length; }

 private:
  bool begin() {
    if (burst_ == config_.bursts || places_ == 0) return false;
    ++burst_;
    left_ = config_.length;
    place_ = random_.below(places_);
    opcode_ = random_.uniform() < config_.reads ? tlmssd::HostOpcode::read : tlmssd::HostOpcode::write;
    return true;
  }

  Config config_;
  std::uint64_t places_;
  tlmssd::RandomStream random_;
  tlmssd::HostOpcode opcode_ = tlmssd::HostOpcode::read;
  std::uint64_t burst_ = 0;
  std::uint32_t left_ = 0;
  std::uint64_t place_ = 0;
  tlmssd::Picoseconds time_ = 0;
};
