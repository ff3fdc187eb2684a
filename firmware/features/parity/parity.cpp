#include "firmware/features/parity/parity.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <span>
#include <utility>

#include "firmware/flash/flash_await.h"
#include "firmware/flash/program.h"
#include "firmware/flash/read_batch.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware {

namespace {

constexpr const char* k_collection = "behind-collection";
constexpr const char* k_writes = "behind-writes";

/// The size of stripes nearest to `wanted` into which so many dies can be parted.
std::uint32_t nearest_stripe(std::uint32_t dies, std::uint32_t wanted) {
  std::uint32_t best = dies;
  for (std::uint32_t size = dies; size >= 2; --size) {
    const auto distance = [&](std::uint32_t n) { return n > wanted ? n - wanted : wanted - n; };
    if (dies % size == 0 && distance(size) < distance(best)) best = size;
  }
  return best;
}

void check(const FeatureContext& context, std::uint32_t stripe) {
  const Core& core = context.core;
  const auto refuse = [](const std::string& why) { throw refusal("firmware.parity.policy", why, "none"); };
  if (!core.map->can_redirect())
    refuse(fmt::format("parity needs the map in DRAM (firmware.mapping.scheme is {}, not page)",
                       core.config.mapping.scheme));
  if (core.layout.stripe_dies > 1)
    refuse("parity needs blocks of one die (firmware.allocation.stripe is not none)");
  if (core.pslc) refuse("a stripe is of program units of one size (firmware.pslc.policy is not none)");
  const auto chosen = [&](const char* path) { return context.config.choice(path).is_on(); };
  if (chosen("firmware.replicas"))
    refuse("replicas serve reads whose die is busy as well (firmware.replicas.policy is not none)");
  if (chosen("firmware.partition"))
    refuse("parity would be written to the read dies (firmware.partition.policy is not none)");
  const std::uint32_t dies = core.layout.pus / core.layout.pus_per_die;
  if (dies == 1) refuse("a drive with one die has no other for a parity");
  if (dies % stripe == 0) return;
  throw refusal("firmware.parity.stripe",
                fmt::format("the {} dies of the drive cannot be parted into stripes of {}", dies, stripe),
                std::to_string(nearest_stripe(dies, stripe)));
}

/// Dies as writes come to them.
std::vector<std::uint32_t> dies_in_order(const Layout& layout) {
  std::vector<std::uint32_t> dies;
  for (const std::uint32_t pu : layout.sequence()) {
    const std::uint32_t die = index(layout.die_of(pu, 0));
    if (std::find(dies.begin(), dies.end(), die) == dies.end()) dies.push_back(die);
  }
  return dies;
}

}  // namespace

const ParameterTable<ParityConfig>& ParityConfig::parameters() {
  static const auto table =
      ParameterTable<ParityConfig>{}
          .integer("stripe", &ParityConfig::stripe, {2, 64},
                   "dies over which a stripe lies, one of them with the parity; the dies of the drive are a "
                   "multiple of it")
          .shapes_state()
          .bandwidth("xor_rate", &ParityConfig::xor_rate, {1'000'000, 1'000'000'000'000},
                     "data that the controller can XOR per second, counted as they come in")
          .integer("forming", &ParityConfig::forming, {2, 65536},
                   "stripes of the same dies that are formed at a time, each with room for a program unit in "
                   "DRAM; the oldest is given up for another")
          .flag("rotate", &ParityConfig::rotate,
                "one die of a stripe collects at a time, those that want to in turn");
  return table;
}

std::vector<PolicyInfo> Parity::policies() {
  return {{"none", "there is no parity", {}},
          {k_collection,
           "with collection or moves: their reads, programs and erases (TTFlash: Yan et al., ACM ToS 2017)",
           {}},
          {k_writes, "with these, or with any other program", {}}};
}

std::uint64_t Parity::own_units(const FeatureChoice& choice, const Layout& layout) {
  const std::uint64_t stripe = choice.read<ParityConfig>().stripe;
  return (layout.total_units() + stripe - 1) / stripe;
}

InputError Parity::too_many_units(const FeatureChoice& /*choice*/, Bytes bytes, Bytes left) {
  return objection(
      "firmware.parity.policy",
      fmt::format("{} B for parity, one part in firmware.parity.stripe of flash, do not fit into "
                  "the spare blocks, which have room for {} B beside the data",
                  bytes, left));
}

Parity::Parity(const FeatureContext& context)
    : core_(context.core),
      gc_(context.gc_worker),
      policy_name_(context.choice.policy),
      behind_writes_(policy_name_ == k_writes),
      rotate_(context.choice.read<ParityConfig>().rotate),
      each_(context.choice.read<ParityConfig>().forming),
      stripe_(context.choice.read<ParityConfig>().stripe),
      dram_address_(context.dram_address),
      dies_(dies_in_order(core_.layout)),
      place_of_(dies_.size()),
      table_(static_cast<std::uint32_t>(core_.layout.total_units() / core_.layout.program_units), stripe_),
      rebuilder_(core_, *this, context.choice.read<ParityConfig>().xor_rate),
      turns_(core_, gc_) {
  check(context, stripe_);
  for (std::uint32_t n = 0; n < dies_.size(); ++n) place_of_[dies_[n]] = n;
  forming_.resize(dies_.size() / stripe_ * each_);
  turns_.set_groups(dies_, stripe_);
}

// ---------------------------------------------------------------------------------------------------------------------- reading

bool Parity::busy(std::uint32_t die) const {
  const auto id = static_cast<DieId>(die);
  if (core_.hw.flash.pending(id) == 0) return false;
  if (behind_writes_ && die_writes(core_.hw, id)) return true;
  return turns_.busy(die);
}

bool Parity::redirect_read(Lpn unit, Ppn where, std::uint64_t need, ReadBatch& reads) {
  const std::uint32_t original = where.number() / core_.layout.program_units;
  if (!busy(die_of(original))) return false;
  ++counters_.busy;
  const StripeTable::Stripe stripe = table_.find(original);
  if (stripe == StripeTable::k_none) {
    ++counters_.without_stripe;
    return false;
  }
  others_.clear();
  for (const std::uint32_t other : table_.units(stripe)) {
    if (other != original) others_.push_back(other);
  }
  if (std::any_of(others_.begin(), others_.end(), [this](std::uint32_t n) { return busy(die_of(n)); })) {
    ++counters_.others_busy;
    return false;
  }
  rebuilder_.add(unit, where, need, others_, reads);
  return true;
}

bool Parity::end_redirected(const ReadOp& read, ReadBatch& again) {
  const Rebuilder::Outcome outcome = rebuilder_.end(read, again);
  if (outcome == Rebuilder::Outcome::lost) ++counters_.lost;
  if (outcome != Rebuilder::Outcome::rebuilt) return false;
  for (std::uint32_t at = read.low; at <= read.high; ++at)
    counters_.served += read.wanted[at] != k_no_unit ? 1 : 0;
  return true;
}

// -------------------------------------------------------------------------------------------------------------- forming stripes

void Parity::on_programmed(const ProgramJob& job) {
  if (&job == own_) return;
  const std::uint32_t die = index(core_.layout.die_of(job.pu, 0));
  if (Forming* const forming = open_for(job, die)) add(*forming, job, die);
}

/// The oldest stripe of its kind that lacks a member on the die, or a new one; null when all are
/// on their way.
Parity::Forming* Parity::open_for(const ProgramJob& job, std::uint32_t die) {
  const std::uint32_t group = place_of_[die] / stripe_;
  const std::uint64_t mask = std::uint64_t{1} << (place_of_[die] % stripe_);
  const bool moved = kind_of(job.target) != WriteTarget::host;
  const std::span<Forming> of_group(&forming_[group * each_], each_);
  Forming* fits = nullptr;
  Forming* none = nullptr;
  Forming* oldest = nullptr;
  const auto older = [](const Forming& one, const Forming* than) {
    return than == nullptr || one.number < than->number;
  };
  for (Forming& one : of_group) {
    if (one.state == State::none && none == nullptr) none = &one;
    if (one.state != State::open) continue;
    if (older(one, oldest)) oldest = &one;
    const bool same = one.moved == moved && one.handle == handle_of(job.target);
    if (same && (one.dies & mask) == 0 && older(one, fits)) fits = &one;
  }
  if (fits != nullptr) return fits;
  if (none == nullptr && oldest != nullptr) {
    release(*oldest);
    ++counters_.displaced;
    none = oldest;
  }
  if (none == nullptr) return nullptr;
  *none = {.state = State::open,
           .moved = moved,
           .handle = handle_of(job.target),
           .group = group,
           .number = begun_++,
           .job = &core_.jobs.take(),
           .units = {}};
  ProgramJob& parity = *none->job;
  for (std::uint32_t n = 0; n < core_.layout.program_units; ++n) {
    parity.clear(n);
    parity.lpn(n) = 0;
  }
  return none;
}

void Parity::add(Forming& forming, const ProgramJob& job, std::uint32_t die) {
  const Layout& layout = core_.layout;
  ProgramJob& parity = *forming.job;
  for (std::uint32_t n = 0; n < layout.program_units; ++n) {
    parity.lpn(n) ^= job.lpn(n);
    for (std::uint32_t s = 0; s < layout.sectors; ++s) parity.content(n)[s] ^= job.content(n)[s];
  }
  core_.hw.memory.access(MemoryKind::dram, address_of(forming), buffer_bytes(), true, posted_);
  forming.units.push_back(job.base.number() / layout.program_units);
  forming.dies |= std::uint64_t{1} << (place_of_[die] % stripe_);
  if (forming.units.size() + 1 < stripe_) return;
  // To the die that is left, in the plane of the first member.
  const auto left = static_cast<std::uint32_t>(std::countr_one(forming.dies));
  const std::uint32_t first_pu = layout.pu_of(block_of(forming.units.front()));
  parity.pu = layout.pu_at(static_cast<DieId>(dies_[forming.group * stripe_ + left]),
                           layout.pus_per_die == 1 ? 0 : index(layout.plane_of(first_pu)));
  forming.state = State::complete;
  ++complete_;
}

// What ends meanwhile, where no time passes, may complete others, which are not started from
// within: they could have to wait for the collection that they are started from.
void Parity::pump() {
  if (pumping_) return;
  pumping_ = true;
  while (complete_ > 0) {
    for (Forming& forming : forming_) {
      if (forming.state != State::complete) continue;
      forming.state = State::flying;
      --complete_;
      tasks_.start(program(forming));
    }
  }
  pumping_ = false;
}

/// The parallel unit has room for its part of the parity.
bool Parity::has_room(std::uint32_t pu) const {
  const BlockPool::ParallelUnit& at = core_.pool.pu(pu);
  const std::int64_t room = core_.pool.room(pu);
  return room * stripe_ >= room + static_cast<std::int64_t>(at.valid + at.pending);
}

/// What waits for a place can still have one, and is worth it.
bool Parity::takes(const Forming& forming) const {
  return !core_.read_only && !forming.lost && !gc_.exhausted(forming.job->pu);
}

/// Waits for a place that can be claimed. False: there will be none.
Task<bool> Parity::place(Forming& forming) {
  ProgramJob& job = *forming.job;
  job.target = moved_target(core_.pool.apart() ? forming.handle : 0);
  if (forming.moved && core_.pool.can_fold(job.pu, job.target)) co_return true;
  job.target = host_target(forming.handle);
  SpaceLines& lines = gc_.lines(job.pu);
  bool my_turn = !lines.must_queue(job);
  if (my_turn && core_.pool.can_claim(job.pu, job.target)) co_return true;
  lines.begin(job);
  for (;;) {
    gc_.kick(job.pu);
    if (!takes(forming) || (my_turn && core_.pool.can_claim(job.pu, job.target))) break;
    co_await lines.space(job).wait();
    lines.resumed(job);
    my_turn = true;
  }
  lines.end(job);
  const bool placed = takes(forming) && core_.pool.can_claim(job.pu, job.target);
  if (!placed) gc_.claimed(job);
  co_return placed;
}

Task<> Parity::program(Forming& forming) {
  ProgramJob& job = *forming.job;
  const std::uint32_t pu = job.pu;
  co_await RunStage(core_.hw, Stage::flash, nullptr);
  bool placed = takes(forming) && has_room(pu);
  core_.pool.promise(pu);
  if (placed) placed = co_await place(forming);
  bool good = false;
  if (placed) {
    const WriteTarget target = job.target;
    Program done(core_, job, target, Purpose::migration, address_of(forming));
    gc_.claimed(job);
    good = co_await done;
  } else if (!forming.lost) {
    ++counters_.refused;
  }
  core_.pool.unpromise(pu);
  if (good) {
    job.live = core_.layout.program_units;
    core_.stats.units_programmed[static_cast<std::size_t>(Purpose::migration)] += job.live;
    ++counters_.programs;
    own_ = &job;
    end_program(core_, job);
    own_ = nullptr;
    if (!forming.lost) {
      forming.units.push_back(job.base.number() / core_.layout.program_units);
      table_.add(forming.units);
    }
  }
  release(forming);
  gc_.program_ended(pu);
  core_.events.work_ended();
}

void Parity::release(Forming& forming) {
  if (forming.state == State::complete) --complete_;
  forming.state = State::none;
  core_.jobs.give(*std::exchange(forming.job, nullptr));
}

// --------------------------------------------------------------------------------------------------------------- ending stripes

bool Parity::includes(const Forming& forming, BlockNumber block) const {
  return std::any_of(forming.units.begin(), forming.units.end(),
                     [&](std::uint32_t unit) { return block_of(unit) == block; });
}

void Parity::on_erase(BlockNumber block) {
  const std::uint32_t each = core_.layout.programs_per_block;
  for (std::uint32_t unit = block * each; unit < (block + 1) * each; ++unit) {
    const StripeTable::Stripe stripe = table_.find(unit);
    if (stripe == StripeTable::k_none) continue;
    table_.end(stripe);
    ++counters_.erased;
  }
  for (Forming& forming : forming_) {
    if (forming.state == State::none || forming.lost || !includes(forming, block)) continue;
    ++counters_.erased;
    if (forming.state == State::flying) {
      forming.lost = true;
    } else {
      release(forming);
    }
  }
}

void Parity::on_collected(std::uint32_t pu) {
  turns_.ended(pu);
  pump();
}

bool Parity::idle() const {
  return std::none_of(forming_.begin(), forming_.end(),
                      [](const Forming& one) { return one.state == State::flying; });
}

void Parity::drop() {
  turns_.end();
  for (Forming& forming : forming_) {
    if (forming.state == State::open || forming.state == State::complete) release(forming);
  }
}

// -------------------------------------------------------------------------------------------------------------- state and reports

void Parity::report(StatisticsSink& sink) const {
  sink.open("parity", "parity over dies, for reads of dies that are busy");
  sink.text("policy", policy_name_, k_choice_doc);
  sink.value("stripe", std::uint64_t{stripe_}, "dies",
             "over which a stripe lies, one of them with the parity");
  sink.value("stripes", std::uint64_t{table_.size()}, "", "stripes that there are now");
  sink.value("programs", counters_.programs, "", "program units of parity");
  sink.value("displaced", counters_.displaced, "stripes",
             "given up while they were formed, because others had to be");
  sink.value("refused", counters_.refused, "stripes",
             "whose parity was not programmed because there was no room for it");
  sink.value("erased", counters_.erased, "stripes", "ended because a block of theirs was erased");
  sink.value("busy", counters_.busy, "units", "units of reads whose die was busy");
  sink.value("without stripe", counters_.without_stripe, "units", "of these, units in no stripe");
  sink.value("others busy", counters_.others_busy, "units",
             "of these, units of whose stripe another die was busy as well");
  sink.value("served", counters_.served, "units", "of these, units read by parity");
  sink.value("lost", counters_.lost, "", "reads by parity that could not be decoded; the original was read");
  sink.close();
}

void Parity::archive(Archive& a) {
  table_.archive(a);
  a(begun_);
  a(counters_);
}

}  // namespace tlmssd::firmware
