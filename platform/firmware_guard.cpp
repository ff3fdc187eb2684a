#include "platform/firmware_guard.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "models/base/ecc_code_text.h"
#include "models/base/input_error.h"
#include "models/base/report_within.h"

namespace tlmssd {

namespace {

std::string place_of(const FlashOp& op) {
  return fmt::format("{} of die {}, plane {}, block {}, page {}", name_of(op.command), index(op.die),
                     index(op.plane), index(op.block), index(op.page));
}

}  // namespace

/// With its content, which may be gone from its owner's memory before it has ended, and whom to
/// call then.
struct FirmwareGuard::Program {
  FirmwareGuard* guard;
  FlashTransaction* op;
  EventQueue::Callback on_done;
  void* on_done_self;
  std::vector<Lpn> units;
  std::vector<Stamp> stamps;
};

// ---- ports as the firmware sees them

class FirmwareGuard::Flash final : public firmware::FlashPort {
 public:
  Flash(FirmwareGuard& guard, firmware::FlashPort& flash) : guard_(guard), flash_(flash) {}
  bool submit(FlashTransaction& op) override {
    guard_.check(op);
    guard_.count(op);
    const bool watched = guard_.durable_ && op.command == FlashCommand::program;
    return watched ? guard_.submit_program(flash_, op) : flash_.submit(op);
  }
  void prefetch(const FlashOp& op) const override { flash_.prefetch(op); }
  [[nodiscard]] std::uint32_t pending(DieId die) const override { return flash_.pending(die); }
  [[nodiscard]] std::uint32_t writing(DieId die) const override { return flash_.writing(die); }
  void watch_dies(DieWatcher& watcher) override { flash_.watch_dies(watcher); }

 private:
  FirmwareGuard& guard_;
  firmware::FlashPort& flash_;
};

class FirmwareGuard::Cpu final : public firmware::CpuPort {
 public:
  Cpu(const FirmwareGuard& guard, firmware::CpuPort& cpu) : guard_(guard), cpu_(cpu) {
    by_work_ = cpu.by_work();
  }
  Run run(Stage stage, std::uint32_t times) override { return cpu_.run(known(stage), times); }
  [[nodiscard]] bool same_cores(Stage first, Stage second) const override {
    return cpu_.same_cores(known(first), known(second));
  }
  Run run(Stage first, Stage second, std::uint32_t times) override {
    return cpu_.run(known(first), known(second), times);
  }
  void describe(Stage stage, const StageWork& work) override { cpu_.describe(known(stage), work); }

 private:
  [[nodiscard]] Stage known(Stage stage) const {
    guard_.check_below("runs stage", static_cast<std::size_t>(stage), k_stages);
    return stage;
  }
  const FirmwareGuard& guard_;
  firmware::CpuPort& cpu_;
};

class FirmwareGuard::Host final : public firmware::HostPort {
 public:
  Host(FirmwareGuard& guard, firmware::HostPort& host) : guard_(guard), host_(host) {}
  void complete(HostCommand& command) override {
    guard_.complete(command);
    host_.complete(command);
  }
  [[nodiscard]] std::uint32_t outstanding() const override { return host_.outstanding(); }
  void on_quiet(EventQueue::Callback callback, void* self) override { host_.on_quiet(callback, self); }

 private:
  FirmwareGuard& guard_;
  firmware::HostPort& host_;
};

FirmwareGuard::FirmwareGuard(std::string name, const firmware::Hardware& hardware,
                             const firmware::DriveShape& shape, std::uint64_t seed, const Make& make)
    : name_(std::move(name)),
      shape_(shape),
      cpu_(std::make_unique<Cpu>(*this, hardware.cpu)),
      flash_(std::make_unique<Flash>(*this, hardware.flash)),
      host_(std::make_unique<Host>(*this, hardware.host)),
      hw_{hardware.event_queue, *cpu_, hardware.memory, *flash_, *host_},
      firmware_(make({hw_, shape_, seed})) {
  if (firmware_ == nullptr) refuse("cannot be made");
  codes_ = firmware_->codes();
}

FirmwareGuard::~FirmwareGuard() = default;

void FirmwareGuard::refuse(const std::string& what) const {
  throw fault_of("firmware " + name_, what);
}

/// Of numbers that C++ takes to be those of an enumeration.
void FirmwareGuard::check_below(std::string_view what, std::size_t number, std::size_t end) const {
  if (number >= end) refuse(fmt::format("{} {}, which there is not; valid: 0 to {}", what, number, end - 1));
}

bool FirmwareGuard::decodes() const {
  bool any = false;
  for (std::size_t code = 1; code < ecc_codes(); ++code) any = any || codes_.has(static_cast<EccCode>(code));
  return any;
}

// ---- commands

void FirmwareGuard::submit(HostCommand& command) {
  if (durable_) durable_->submitted(command, arrived_);
  outstanding_.emplace(&command, arrived_++);
  firmware_->submit(command);
}

void FirmwareGuard::complete(HostCommand& command) {
  const auto known = outstanding_.extract(&command);
  if (known.empty()) refuse("completes a command that is not outstanding (twice?)");
  check_below("completes a command with status", static_cast<std::size_t>(command.status),
              static_cast<std::size_t>(HostStatus::invalid_field) + 1);
  if (command.ledger.mark() > hw_.event_queue.now()) {
    refuse(fmt::format("charges a command with {} ps that have not passed",
                       command.ledger.mark() - hw_.event_queue.now()));
  }
  if (command.ledger.owes())
    refuse("charges a command with times below 0 (up to an instant that was charged before)");
  if (durable_) {
    if (const std::string wrong = durable_->completed(command, known.mapped()); !wrong.empty()) refuse(wrong);
  }
  ++statistics_.commands;
  if (command.status != HostStatus::success) return;
  const auto sectors = static_cast<std::uint32_t>(shape_.mapping_page_bytes / shape_.lba_bytes);
  const auto units = [&] {
    return command.blocks == 0 ? 0 : (command.lba + command.blocks - 1) / sectors - command.lba / sectors + 1;
  };
  if (command.opcode == HostOpcode::read) {
    statistics_.host_blocks_read += command.blocks;
    statistics_.host_units_read += units();
  } else if (command.opcode == HostOpcode::write) {
    statistics_.host_blocks_written += command.blocks;
    statistics_.host_units_written += units();
  }
}

Task<> FirmwareGuard::drain() {
  co_await firmware_->drain();
  std::uint32_t under_way = 0;
  for (std::uint32_t die = 0; die < shape_.geometry.dies(); ++die)
    under_way += flash_->pending(static_cast<DieId>(die));
  if (under_way > 0)
    refuse(fmt::format("says that it is drained, but {} of its flash operations are under way", under_way));
  if (durable_ == nullptr || firmware_->read_only()) co_return;  // then what is left can go nowhere
  if (const std::string wrong = durable_->drained(); !wrong.empty()) refuse(wrong);
}

// ---- flash

void FirmwareGuard::check(const FlashOp& op) const {
  check_below("orders flash operation", static_cast<std::size_t>(op.command),
              static_cast<std::size_t>(FlashCommand::copyback) + 1);
  check_below("orders a flash operation with purpose", static_cast<std::size_t>(op.purpose), k_purposes);
  const Geometry& g = shape_.geometry;
  const auto end = [](std::uint32_t first, std::uint32_t count) { return std::uint64_t{first} + count; };
  const bool inside = index(op.die) < g.dies() && op.planes > 0 &&
                      end(index(op.plane), op.planes) <= g.planes && index(op.block) < g.blocks &&
                      end(index(op.page), op.pages) <= g.pages;
  if (!inside) {
    refuse(fmt::format("{}: outside the array of {} dies x {} planes x {} blocks x {} pages", place_of(op),
                       g.dies(), g.planes, g.blocks, g.pages));
  }
  if (op.command == FlashCommand::erase) return;
  if (op.pages == 0) refuse(place_of(op) + ": is of no page");
  if (op.program_pass != 0) {
    refuse(fmt::format("{}: has begun already (program_pass {}), which is the hardware's to say",
                       place_of(op), op.program_pass));
  }
  if (op.command == FlashCommand::read && op.code != EccCode::none && !is_among(codes_, op.code)) {
    refuse(fmt::format("{}: asks for code {}, but its codes are {}", place_of(op), ecc_code_text(op.code),
                       ecc_code_text(codes_)));
  }
  if (op.slots > 0 && (op.spare == nullptr || op.stamps == nullptr))
    refuse(place_of(op) + ": has no place for data or spare areas");
}

void FirmwareGuard::count(const FlashOp& op) {
  const auto purpose = static_cast<std::size_t>(op.purpose);
  switch (op.command) {
    case FlashCommand::read:
      ++statistics_.reads.at(purpose);
      return;
    case FlashCommand::erase:
      ++statistics_.erases;
      return;
    case FlashCommand::copyback:
      ++statistics_.copybacks;
      ++statistics_.programs.at(purpose);
      statistics_.units_programmed.at(purpose) += op.slots;
      return;
    case FlashCommand::program: {
      const auto live =
          static_cast<std::uint64_t>(op.slots - std::count(op.spare, op.spare + op.slots, k_no_unit));
      ++statistics_.programs.at(purpose);
      statistics_.units_programmed.at(purpose) += live;
      statistics_.units_padded.at(purpose) += op.slots - live;
      return;
    }
  }
}

// ---- durability

void FirmwareGuard::check_durability() {
  durable_ = std::make_unique<DurableWrites>(
      static_cast<std::uint32_t>(shape_.mapping_page_bytes / shape_.lba_bytes));
}

bool FirmwareGuard::submit_program(firmware::FlashPort& flash, FlashTransaction& op) {
  const std::size_t stamps = op.slots * (shape_.mapping_page_bytes / shape_.lba_bytes);
  auto made = std::make_unique<Program>(Program{this,
                                                &op,
                                                op.on_done,
                                                op.on_done_self,
                                                {op.spare, op.spare + op.slots},
                                                {op.stamps, op.stamps + stamps}});
  Program& program = *made;
  programs_[&op] = std::move(made);
  op.on_done_self = &program;
  op.on_done = [](void* self) {
    Program& ended = *static_cast<Program*>(self);
    FlashTransaction& transaction = *ended.op;
    transaction.on_done = ended.on_done;
    transaction.on_done_self = ended.on_done_self;
    ended.guard->programmed(ended, transaction.status);
    ended.guard->programs_.erase(&transaction);
    transaction.on_done(transaction.on_done_self);
  };
  if (!flash.submit(op)) return false;
  op.on_done = program.on_done;
  op.on_done_self = program.on_done_self;
  programmed(program, op.status);
  programs_.erase(&op);
  return true;
}

void FirmwareGuard::programmed(const Program& program, FlashStatus status) {
  if (status != FlashStatus::ok) return;
  const std::size_t per_unit = program.units.empty() ? 0 : program.stamps.size() / program.units.size();
  for (std::size_t slot = 0; slot < program.units.size(); ++slot) {
    if (program.units[slot] == k_no_unit) continue;
    durable_->programmed(program.units[slot], std::span(program.stamps).subspan(slot * per_unit, per_unit));
  }
}

// ---- what is asked from outside

void FirmwareGuard::archive(Archive& archive) {
  if (!archives()) refuse("takes no snapshots");
  std::string name = name_;
  archive(name);
  if (name != name_) throw ArchiveError(fmt::format("the snapshot is of firmware {}", name));
  archive(statistics_);
  firmware_->archive(archive);
}

void FirmwareGuard::describe_stall(std::string& text) const {
  constexpr std::size_t k_most = 16;
  std::vector<std::pair<std::uint64_t, const HostCommand*>> commands;
  for (const auto& [command, number] : outstanding_) commands.emplace_back(number, command);
  std::sort(commands.begin(), commands.end());
  text += fmt::format("firmware {}: {} commands not completed\n", name_, commands.size());
  for (std::size_t i = 0; i < std::min(commands.size(), k_most); ++i) {
    const HostCommand& command = *commands[i].second;
    text += fmt::format("  {} of {} blocks at {}\n", tlmssd::name_of(command.opcode), command.blocks,
                        command.lba);
  }
  if (commands.size() > k_most) text += fmt::format("  and {} more\n", commands.size() - k_most);
  firmware_->describe_stall(text);
}

void FirmwareGuard::reset_statistics() {
  statistics_ = {};
  firmware_->reset_statistics();
}

void FirmwareGuard::report(StatisticsSink& sink) const {
  const firmware::FtlStatistics& s = statistics_;
  const auto sectors = static_cast<double>(shape_.mapping_page_bytes) / shape_.lba_bytes;
  const double written = static_cast<double>(s.host_blocks_written) / sectors;
  const auto padded = std::reduce(s.units_padded.begin(), s.units_padded.end());
  sink.open("firmware", "flash translation layer");
  sink.text("model", name_,
            "which firmware, as the scenario names it; what it does is counted outside of it");
  sink.value("commands", s.commands, "", "host commands completed");
  sink.value("host units read", s.host_units_read, "units", "mapping pages looked up by reads");
  sink.value("host units written", s.host_units_written, "units",
             "mapping pages touched by writes, wholly or in part");
  sink.value("host units written, net", written, "units", "data written by the host, in mapping pages");
  sink.open("write amplification", "bytes programmed per byte that the host wrote");
  sink.value("total", ratio(static_cast<double>(s.slots_programmed()), written), "", "all causes together");
  for (std::size_t p = 0; p < k_purposes; ++p) {
    if (s.programs.at(p) == 0 && p != static_cast<std::size_t>(Purpose::host)) continue;
    sink.value(tlmssd::name_of(static_cast<Purpose>(p)),
               ratio(static_cast<double>(s.units_programmed.at(p)), written), "",
               "data programmed for this purpose");
  }
  sink.value("padding", ratio(static_cast<double>(padded), written), "",
             "slots programmed with nothing in them, to fill a program unit");
  sink.close();
  sink.open("flash", "operations ordered, by purpose");
  for (std::size_t p = 0; p < k_purposes; ++p) {
    if (s.programs.at(p) + s.reads.at(p) == 0) continue;
    sink.open(tlmssd::name_of(static_cast<Purpose>(p)), "operations for this purpose");
    sink.value("units programmed", s.units_programmed.at(p), "units", "mapping pages written");
    sink.value("units padded", s.units_padded.at(p), "units", "slots written with nothing in them");
    sink.value("programs", s.programs.at(p), "", "program operations");
    sink.value("reads", s.reads.at(p), "", "read operations");
    sink.close();
  }
  sink.value("erases", s.erases, "", "erase operations of a die");
  sink.close();
  report_within(sink, "firmware " + name_, *firmware_);
  sink.close();
}

}  // namespace tlmssd
