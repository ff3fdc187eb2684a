// What the tests of the whole drive share: small drives, scripted loads, runs that keep every
// completion.
//
// SystemC elaborates once per process, so a test that compares two drives runs one of them in a
// child process (in_child): a fork made before anything of SystemC exists, whose result comes back
// through a pipe.
#pragma once

#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "models/base/random.h"
#include "testbench/app/simulation.h"
#include "testbench/loads/config/load_config.h"

namespace tlmssd::drive_tests {

using namespace literals;

/// Two dies on two channels, 64 blocks in all, with much spare.
inline SsdConfig small_drive() {
  SsdConfig config;
  config.dram.capacity = 64_MiB;
  config.flash.channels = 2;
  config.flash.ways = 1;
  config.part.planes = 1;
  config.part.blocks_per_plane = 32;
  config.part.pages_per_block = 16;
  config.capacity.over_provisioning = 0.6;
  config.firmware.buffer.capacity = 1_MiB;
  return config;
}

/// One of the values.
template <class T>
T pick(RandomStream& random, std::initializer_list<T> values) {
  return values.begin()[random.below(values.size())];
}

/// One request of a script.
struct Step {
  HostOpcode opcode = HostOpcode::read;
  Bytes offset = 0;
  Bytes bytes = 0;
  bool force_unit_access = false;
};

/// Requests made by a function: false ends the load.
class MadeSource final : public RequestSource {
 public:
  using Make = std::function<bool(Request&)>;
  explicit MadeSource(Make make) : make_(std::move(make)) {}
  bool next(Request& request) override { return make_(request); }

 private:
  Make make_;
};

inline Load make_load(MadeSource::Make make, const DriveSize& drive, std::uint32_t depth) {
  Load load;
  load.name = "made";
  load.source = std::make_unique<PlacedSource>(std::make_unique<MadeSource>(std::move(make)),
                                               PlacementConfig{}, LoadExtent{{drive.bytes}, 0}, drive);
  load.queue_depth = depth;
  return load;
}

inline Load script(std::vector<Step> steps, const DriveSize& drive, std::uint32_t depth = 1) {
  auto at = std::make_shared<std::size_t>(0);
  return make_load(
      [steps = std::move(steps), at](Request& request) {
        if (*at == steps.size()) return false;
        const Step& step = steps[(*at)++];
        request = {};
        request.opcode = step.opcode;
        request.offset = step.offset;
        request.bytes = step.bytes;
        request.force_unit_access = step.force_unit_access;
        return true;
      },
      drive, depth);
}

/// A load in fio's words. `amount`: bytes to move, 0: the size once.
struct Words {
  std::string rw = "randread";
  Bytes bs = 4096;
  std::uint32_t depth = 1;
  Bytes size = 0;  ///< 0: the whole drive
  Bytes amount = 0;
};

inline std::vector<Load> make_loads(const Words& words, const DriveSize& drive, std::uint64_t seed = 1) {
  LoadConfig config;
  config.kind.name = words.rw;
  config.generator.rw = words.rw;
  config.generator.bs = std::to_string(words.bs);
  config.generator.iodepth = words.depth;
  if (words.size > 0) config.generator.size = std::to_string(words.size);
  if (words.amount > 0) config.generator.io_size = std::to_string(words.amount);
  return tlmssd::make_loads(config, drive, seed);
}

inline void run_untimed(Simulation& simulation, const Words& words, std::uint64_t seed = 1) {
  std::vector<Load> loads = make_loads(words, simulation.drive_size(), seed);
  simulation.run_untimed(loads);
}

inline std::vector<Load> one(Load load) {
  std::vector<Load> loads;
  loads.push_back(std::move(load));
  return loads;
}

/// What a ledger held, in a form that goes from process to process.
struct SeenLedger {
  Ledger::Parts parts{};
  SeenLedger() = default;
  SeenLedger(const Ledger& ledger) : parts(ledger.parts()) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] Picoseconds spent(Cause cause) const { return parts[static_cast<std::size_t>(cause)]; }
  [[nodiscard]] Picoseconds total() const {
    return std::accumulate(parts.begin(), parts.begin() + k_causes, Picoseconds{0});
  }
};

/// A completed command that outlives its slot.
struct Seen {
  HostOpcode opcode;
  HostStatus status;
  Picoseconds latency;
  SeenLedger ledger;
};

/// Runs `steps` one after another, each on a drive at rest; returns what the host saw of them.
inline std::vector<Seen> run_unloaded(Simulation& simulation, const std::vector<Step>& steps) {
  std::vector<Seen> seen;
  simulation.driver().set_completion_hook([&](const Completed& command) {
    seen.push_back({command.opcode, command.status, command.completed - command.submitted, *command.ledger});
  });
  for (const Step& step : steps) {
    std::vector<Load> loads = one(script({step}, simulation.drive_size()));
    loads.front().start = 1_s;  // whatever earlier steps left to do has ended by then
    Measurement measurement({"step"});
    simulation.run(loads, measurement);
  }
  simulation.driver().set_completion_hook(nullptr);
  return seen;
}

/// Runs `work` in a child process and returns what it returned; an exception in it is thrown here
/// as a std::runtime_error.
template <class Result>
Result in_child(const std::function<Result()>& work) {
  static_assert(std::is_trivially_copyable_v<Result>);
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) {
    close(ends[0]);
    std::string answer(1, 'n');
    try {
      const Result result = work();
      answer.assign(1, 'y');
      answer.append(reinterpret_cast<const char*>(&result), sizeof result);
    } catch (const std::exception& error) {
      answer += error.what();
    }
    const bool told = write(ends[1], answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  std::string answer;
  char piece[4096];
  for (ssize_t got = 0; (got = read(ends[0], piece, sizeof piece)) > 0;)
    answer.append(piece, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (answer.empty()) throw std::runtime_error("the child process died");
  if (answer[0] != 'y') throw std::runtime_error("in the child process: " + answer.substr(1));
  Result result;
  std::memcpy(&result, answer.data() + 1, sizeof result);
  return result;
}

}  // namespace tlmssd::drive_tests
