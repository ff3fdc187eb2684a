#include "firmware/foreign/c_adapter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

#include "models/base/input_error.h"

namespace tlmssd::firmware::foreign {

namespace {

constexpr const char* k_saved_otherwise =
    "another build of it may have saved them, or one with other parameters";

/// What buffers hold after a loss of power: no block of a unit has it but by chance.
constexpr Stamp k_gone = 0xDEAD;

}  // namespace

CFirmware::CFirmware(const tlmssd_firmware& firmware, const ParameterValues& values,
                     const FirmwareContext& context, const std::vector<ParameterSpec>& parameters)
    : firmware_(firmware),
      hw_(context.hw),
      shape_(context.shape),
      values_(&values),
      parameters_(parameters),
      sectors_(static_cast<std::uint32_t>(shape_.mapping_page_bytes / shape_.lba_bytes)),
      units_(static_cast<std::uint32_t>((shape_.logical_blocks + sectors_ - 1) / sectors_)),
      units_per_page_(static_cast<std::uint32_t>(shape_.geometry.page_bytes / shape_.mapping_page_bytes)),
      handle_{{&adapter_api()}, this} {
  watch_for_crashes();
  const Geometry& g = shape_.geometry;
  tlmssd_shape shape{};
  shape.size = sizeof shape;
  shape.logical_blocks = shape_.logical_blocks;
  shape.logical_units = units_;
  shape.lba_bytes = shape_.lba_bytes;
  shape.unit_bytes = static_cast<std::uint32_t>(shape_.mapping_page_bytes);
  shape.blocks_per_unit = sectors_;
  shape.channels = g.channels;
  shape.dies = g.dies();
  shape.planes = g.planes;
  shape.blocks = g.blocks;
  shape.pages = g.pages;
  shape.units_per_page = units_per_page_;
  shape.program_pages = shape_.program_unit;
  shape.multi_plane = shape_.multi_plane_allowed ? 1 : 0;
  shape.scm_bytes = shape_.scm_bytes;
  shape.seed = context.seed;
  enter([&] { self_ = ask(firmware_.create, &handle_.host, &shape); });
  values_ = nullptr;
  if (self_ == nullptr) throw InputError(fmt::format("firmware {} refuses this drive", firmware_.name));
  buffer_count_ = answer(firmware_.buffers, self_);
  dram_behind_ = answer(firmware_.dram_bytes, self_);
  if (firmware_.quiet != nullptr) {
    hw_.host.on_quiet(
        [](void* owner) {
          auto& self = *static_cast<CFirmware*>(owner);
          self.enter([&self] { self.ask(self.firmware_.quiet, self.self_); });
        },
        this);
  }
}

CFirmware::~CFirmware() {
  if (self_ == nullptr) return;
  ask(firmware_.destroy, self_);
  if (!failure_ || std::uncaught_exceptions() > 0) return;
  try {
    fail(failure_);
  } catch (const std::exception& error) {
    end_at_once(error.what());  // a destructor cannot throw
  }
}

// ---- into the firmware and out of it

void CFirmware::run_ready() {
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    const Action action = std::move(ready_[i]);
    action();
    if (failure_) {
      ready_.clear();
      fail(std::exchange(failure_, nullptr));
    }
  }
  ready_.clear();
}

/// With its name, unless it is about a key of the scenario.
void CFirmware::fail(const std::exception_ptr& failure) const {
  const std::string name = fmt::format("firmware {}", firmware_.name);
  try {
    std::rethrow_exception(failure);
  } catch (const InputError& error) {
    const std::string& what = error.complaint().what;
    if (!error.complaint().key.empty() || what.starts_with(name)) throw;
    throw fault_of(name, what);
  }
}

bool CFirmware::fire_timer() {
  const auto next =
      std::find_if(timers_.begin(), timers_.end(), [](const auto& timer) { return !timer.second->armed; });
  if (next == timers_.end()) return false;
  // Firmware that waits for what never comes by asking again and again is found out like any other.
  static_cast<void>(hw_.cpu.run(Stage::command, 1));
  Call& call = *next->second;
  timers_.erase(next);
  later([this, &call] { come_back(call); });
  return true;
}

void CFirmware::timer_due(void* timer) {
  Call& call = *static_cast<Call*>(timer);
  CFirmware& self = *call.owner;
  --self.armed_;
  const auto [first, last] = self.timers_.equal_range(call.when);
  self.timers_.erase(std::find_if(first, last, [&](const auto& one) { return one.second == &call; }));
  self.enter([&self, &call] { self.come_back(call); });
}

void CFirmware::arm(Call& timer) {
  if (std::exchange(timer.armed, true)) return;
  ++armed_;
  hw_.event_queue.at(timer.when, &CFirmware::timer_due, &timer);
}

void CFirmware::set_timed(bool timed) {
  timed_ = timed;
  for (const auto& [when, timer] : timers_) {
    if (timed) {
      arm(*timer);
    } else if (timer->armed && when > hw_.event_queue.now()) {  // what is due now can be taken back no more
      hw_.event_queue.cancel(&CFirmware::timer_due, timer);
      timer->armed = false;
      --armed_;
    }
  }
}

// ---- commands

Command& CFirmware::known(const tlmssd_command* command) const {
  auto* const own = const_cast<Command*>(reinterpret_cast<const Command*>(command));
  if (command == nullptr || !own->alive || own->done)
    throw InputError("names a command that is not outstanding (completed twice?)");
  return *own;
}

void CFirmware::submit(HostCommand& command) {
  Command& own = commands_.take();
  own.command = &command;
  own.alive = true;
  own.done = false;
  own.serial = ++commands_seen_;
  own.under_way = 0;
  own.ranges.clear();
  for (const LbaRange& range : command.ranges()) own.ranges.push_back({range.lba, range.blocks});
  own.delivered.assign(command.opcode == HostOpcode::read ? command.blocks : 0, false);
  own.seen = {};
  own.seen.size = sizeof own.seen;
  own.seen.opcode = static_cast<tlmssd_opcode>(command.opcode);
  own.seen.force_unit_access = command.force_unit_access ? 1 : 0;
  own.seen.lba = command.lba;
  own.seen.blocks = command.blocks;
  own.seen.placement_handle = command.placement_handle;
  own.seen.ranges = own.ranges.data();
  own.seen.range_count = own.ranges.size();
  ++under_way_;
  enter([this, &own] { ask(firmware_.submit, self_, &own.seen); });
}

void CFirmware::complete(tlmssd_command* command, tlmssd_status status) {
  Command& own = known(command);
  if (number_in(status) > TLMSSD_INVALID_FIELD) {
    throw InputError(fmt::format("completes a command with status {}, which there is not; valid: 0 to {}",
                                 number_in(status), static_cast<unsigned>(TLMSSD_INVALID_FIELD)));
  }
  const auto missing = std::find(own.delivered.begin(), own.delivered.end(), false);
  if (status == TLMSSD_SUCCESS && missing != own.delivered.end()) {
    throw InputError(fmt::format(
        "completes a read of {} blocks at {} without data for block {}", own.command->blocks,
        own.command->lba, own.command->lba + static_cast<std::uint64_t>(missing - own.delivered.begin())));
  }
  if (own.under_way > 0) {
    throw InputError(
        fmt::format("completes a {} before what is charged to it has ended (memory accesses and flash "
                    "operations: {})",
                    name_of(own.command->opcode), own.under_way));
  }
  own.command->status = static_cast<HostStatus>(status);
  own.done = true;
  later([this, &own] { hand_back(own); });
}

void CFirmware::hand_back(Command& command) {
  command.alive = false;
  --under_way_;
  HostCommand& host = *std::exchange(command.command, nullptr);
  commands_.give(command);
  hw_.host.complete(host);
  if (firmware_.quiet != nullptr && hw_.host.outstanding() == 0) ask(firmware_.quiet, self_);
}

// ---- content

Stamp* CFirmware::buffer(std::uint32_t number) {
  if (number >= buffer_count_) throw InputError(fmt::format("names buffer {} of {}", number, buffer_count_));
  // Not before it is known whether they fit in the DRAM.
  if (buffers_.empty()) buffers_.resize(std::size_t{buffer_count_} * sectors_);
  return &buffers_[std::size_t{number} * sectors_];
}

void CFirmware::take(const tlmssd_command* command, std::uint32_t lpn, std::uint32_t number) {
  const HostCommand& host = *known(command).command;
  if (host.opcode == HostOpcode::read || host.opcode == HostOpcode::flush)
    throw InputError(fmt::format("takes data from a {}", name_of(host.opcode)));
  Stamp* const to = buffer(number);
  bool some = false;
  const auto copy = [&](std::uint64_t lba, std::uint64_t blocks, bool data) {
    const std::uint64_t start = std::uint64_t{lpn} * sectors_;
    const std::uint64_t first = std::max(lba, start);
    const std::uint64_t end = std::min(lba + blocks, start + sectors_);
    some = some || first < end;
    for (std::uint64_t block = first; block < end; ++block)
      to[block - start] = data ? host.data()[block - host.lba] : k_zeros;
  };
  if (host.opcode == HostOpcode::write) {
    copy(host.lba, host.blocks, true);
  } else if (host.ranges().empty()) {
    copy(host.lba, host.blocks, false);
  } else {
    for (const LbaRange& range : host.ranges()) copy(range.lba, range.blocks, false);
  }
  if (!some) throw InputError(fmt::format("takes unit {} from a command that has none of it", lpn));
}

bool CFirmware::bring(HostCommand& command, std::vector<bool>& delivered, Lpn lpn,
                      const Stamp* stamps) const {
  const std::uint64_t start = std::uint64_t{lpn} * sectors_;
  const std::uint64_t first = std::max(command.lba, start);
  const std::uint64_t end = std::min(command.lba + command.blocks, start + sectors_);
  for (std::uint64_t block = first; block < end; ++block) {
    command.data()[block - command.lba] = stamps == nullptr ? k_zeros : stamps[block - start];
    delivered[block - command.lba] = true;
  }
  return first < end;
}

void CFirmware::deliver(tlmssd_command* command, std::uint32_t lpn, std::uint32_t number) {
  Command& own = known(command);
  if (own.command->opcode != HostOpcode::read) throw InputError("delivers data to a command that is no read");
  const Stamp* const stamps = number == TLMSSD_NO_BUFFER ? nullptr : buffer(number);
  if (!bring(*own.command, own.delivered, lpn, stamps))
    throw InputError(fmt::format("delivers unit {} to a command that has none of it", lpn));
}

void CFirmware::copy(std::uint32_t from, std::uint32_t to, std::uint32_t first, std::uint32_t blocks) {
  if (first + std::uint64_t{blocks} > sectors_)
    throw InputError(fmt::format("copies blocks {} to {} of a buffer of {}", first,
                                 first + std::uint64_t{blocks}, sectors_));
  Stamp* const target = buffer(to) + first;
  if (from == TLMSSD_NO_BUFFER) {
    std::fill_n(target, blocks, k_zeros);
  } else {
    std::copy_n(buffer(from) + first, blocks, target);
  }
}
// ---- drain, snapshots, report

Task<> CFirmware::drain() {
  draining_ = true;
  enter([this] { ask(firmware_.drain, self_); });
  while (draining_) co_await drains_.wait();
}

void CFirmware::drained() {
  if (!draining_) throw InputError("says that it is drained, but was not asked to");
  draining_ = false;
  while (const auto waiter = drains_.pop()) hw_.event_queue.soon(waiter);
}

void CFirmware::archive(Archive& archive) {
  std::string version = firmware_.version;
  archive(version);
  if (version != firmware_.version)
    throw ArchiveError(
        fmt::format("the snapshot is of {} {}, this is {}", firmware_.name, version, firmware_.version));
  archive(buffers_);
  buffers_.resize(std::size_t{buffer_count_} * sectors_);
  // In one piece: what the firmware does wrong must not be taken for a damaged file.
  tlmssd_archive own{this, archive.saving(), {}, 0};
  if (!own.saving) archive(own.bytes);
  enter([&] { ask(firmware_.archive, self_, &own); });
  if (own.saving) archive(own.bytes);
  if (!own.saving && own.at < own.bytes.size()) {
    throw InputError(fmt::format("firmware {}: restores {} of the {} bytes that were saved; {}",
                                 firmware_.name, own.at, own.bytes.size(), k_saved_otherwise));
  }
}

void CFirmware::save_or_restore(tlmssd_archive& archive, void* data, std::size_t bytes) {
  if (bytes == 0) return;
  if (data == nullptr) throw InputError("saves or restores bytes, but does not say where they are (null)");
  if (archive.saving) {
    const auto* const begin = static_cast<const unsigned char*>(data);
    archive.bytes.insert(archive.bytes.end(), begin, begin + bytes);
    return;
  }
  if (archive.bytes.size() - archive.at < bytes) {
    throw InputError(fmt::format("restores more than the {} bytes that were saved; {}", archive.bytes.size(),
                                 k_saved_otherwise));
  }
  std::memcpy(data, archive.bytes.data() + archive.at, bytes);
  archive.at += bytes;
}

bool CFirmware::power_cycle() {
  if (firmware_.power_cycle == nullptr) return false;
  std::fill(buffers_.begin(), buffers_.end(), k_gone);
  enter([this] { ask(firmware_.power_cycle, self_); });
  return true;
}

EccCodes CFirmware::codes() const {
  EccCodes codes;
  for (std::size_t code = 1; code < k_ecc_codes; ++code) {
    if (((firmware_.codes >> code) & 1U) != 0) codes.add(static_cast<EccCode>(code));
  }
  return codes;
}

void CFirmware::describe_stall(std::string& text) const {
  if (firmware_.describe_stall == nullptr) return;
  std::array<char, 4096> lines{};
  const std::size_t length = answer(firmware_.describe_stall, self_, lines.data(), lines.size());
  text.append(lines.data(), std::min(length, lines.size()));
  if (!text.ends_with('\n')) text += '\n';
}

void CFirmware::report(StatisticsSink& sink) const {
  if (firmware_.report == nullptr) return;
  tlmssd_report own{this, &sink};
  answer(firmware_.report, self_, &own);
}

// ---- parameters

void CFirmware::refuse(const char* parameter, const char* what) {
  const std::string_view why = what;
  throw objection(parameter, why.empty() ? "is refused, and no reason is given" : std::string(why));
}

/// What is given, else the default.
const Value& CFirmware::value_of(std::string_view name) const {
  if (values_ == nullptr) throw InputError("asks for a parameter other than in create()");
  for (const ParameterSpec& parameter : parameters_) {
    if (parameter.name != name) continue;
    const Value* const given = values_->find(name);
    return given != nullptr ? *given : parameter.fallback;
  }
  throw InputError(fmt::format("asks for parameter '{}', which it has not declared", name));
}

double CFirmware::number(std::string_view name) {
  double number = 0;
  called([&] {
    const Value& value = value_of(name);
    if (const auto* const flag = std::get_if<bool>(&value)) {
      number = *flag ? 1 : 0;
    } else if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
      number = static_cast<double>(*whole);
    } else if (const auto* const real = std::get_if<double>(&value)) {
      number = *real;
    } else {
      throw InputError(fmt::format("asks for parameter '{}' as a number", name));
    }
  });
  return number;
}

const char* CFirmware::text(std::string_view name) {
  const char* text = "";
  called([&] {
    const auto* const words = std::get_if<std::string>(&value_of(name));
    if (words == nullptr) throw InputError(fmt::format("asks for parameter '{}' as a text", name));
    text = words->c_str();
  });
  return text;
}
}  // namespace tlmssd::firmware::foreign
