#include "firmware/features/parallel_issue/parallel_issue.h"

#include <algorithm>
#include <utility>

#include "models/base/make_policy.h"

namespace tlmssd::firmware {

const ParameterTable<ParallelIssueConfig>& ParallelIssueConfig::parameters() {
  static const auto table =
      ParameterTable<ParallelIssueConfig>{}
          .integer("at_once", &ParallelIssueConfig::at_once, {1, 64},
                   "batches under way at a time: the next is formed when fewer are (assumption)")
          .time("starvation_bound", &ParallelIssueConfig::starvation_bound, {0, 1'000'000'000'000'000.0},
                "a program of the write buffer that has waited so long for reads goes; 0: it waits for none "
                "(assumption)");
  return table;
}

std::vector<PolicyInfo> ParallelIssue::policies() {
  return {{std::string(k_no_policy), "each read goes as soon as it can", {}},
          {"batches",
           "reads that meet on no die go together, the next ones when all of them have ended; "
           "writes wait for reads (Gao et al. 2014)",
           {}}};
}

ParallelIssue::ParallelIssue(const FeatureContext& context)
    : core_(context.core),
      flusher_(context.flusher),
      policy_name_(context.choice.policy),
      config_(context.choice.read<ParallelIssueConfig>()),
      left_(config_.at_once),
      claimed_(std::size_t{core_.layout.pus} / core_.layout.pus_per_die * core_.layout.stripe_dies) {
  if (claimed_.size() == 1)
    throw refusal("firmware.parallel_issue.policy", "there is one die, on which all reads meet", "none");
}

// ------------------------------------------------------------------------------------------------------------------- reads

bool ParallelIssue::holds_read(ReadTurn& turn) {
  ++counters_.commands;
  if (under_way_ < left_.size() && waiting_.empty()) {
    turn.tag = begin(1);
    return false;
  }
  ++counters_.held;
  waiting_.push(turn);
  return true;
}

/// A batch of so many commands is under way; returns where they are counted.
std::uint32_t ParallelIssue::begin(std::uint32_t commands) {
  const auto free = std::find(left_.begin(), left_.end(), 0U);
  *free = commands;
  ++under_way_;
  ++counters_.batches;
  return static_cast<std::uint32_t>(free - left_.begin());
}

void ParallelIssue::on_read_turn_end(const ReadTurn& turn) {
  if (--left_[turn.tag] > 0) return;
  --under_way_;
  if (waiting_.empty() || std::exchange(forming_, true)) return;
  // Not from within a command that ends.
  core_.hw.event_queue.soon([](void* self) { static_cast<ParallelIssue*>(self)->form_batches(); }, this);
}

void ParallelIssue::form_batches() {
  forming_ = false;
  while (under_way_ < left_.size() && !waiting_.empty()) next_batch();
  if (waiting_.empty() && held_since_ >= 0) flusher_.pump();
}

void ParallelIssue::next_batch() {
  std::fill(claimed_.begin(), claimed_.end(), false);
  IntrusiveQueue<ReadTurn> batch;
  IntrusiveQueue<ReadTurn> rest;
  while (!waiting_.empty()) {
    ReadTurn& turn = waiting_.pop();
    (claim(turn) ? batch : rest).push(turn);
  }
  waiting_ = std::move(rest);
  const std::uint32_t tag = begin(batch.size());
  while (!batch.empty()) {
    ReadTurn& turn = batch.pop();
    const Picoseconds wait = core_.hw.event_queue.now() - turn.since;
    counters_.waited += wait;
    counters_.longest = std::max(counters_.longest, wait);
    turn.tag = tag;
    turn.go();
  }
}

/// Puts the dies of the command on the batch's list; false: one of them is there already.
bool ParallelIssue::claim(const ReadTurn& turn) {
  const auto die_of = [&layout = core_.layout](const ReadOp& read) {
    return index(
        layout.die_of(layout.pu_of(read.block), layout.place_of(read.block, read.mp_page).stripe_die));
  };
  for (const ReadOp& read : turn.reads()) {
    if (claimed_[die_of(read)]) return false;
  }
  for (const ReadOp& read : turn.reads()) claimed_[die_of(read)] = true;
  return true;
}

// ------------------------------------------------------------------------------------------------------------------ writes

bool ParallelIssue::overdue() const {
  return core_.hw.event_queue.now() - held_since_ >= config_.starvation_bound;
}

bool ParallelIssue::holds_program(std::uint32_t /*slots*/) {
  if (waiting_.empty() || config_.starvation_bound == 0) {
    let_writes_go();
    return false;
  }
  if (held_since_ < 0) {
    held_since_ = core_.hw.event_queue.now();
    ++counters_.writes_held;
  }
  if (overdue()) return false;
  if (!std::exchange(armed_, true)) {
    core_.hw.event_queue.at(
        held_since_ + config_.starvation_bound,
        [](void* self) { static_cast<ParallelIssue*>(self)->write_due(); }, this);
  }
  return true;
}

void ParallelIssue::write_due() {
  armed_ = false;
  if (held_since_ >= 0) flusher_.pump();  // asks again, and waits for the rest where it is another one
}

// A program goes: whatever is held is held from here on.
void ParallelIssue::on_program(const ProgramJob& /*job*/, bool /*kept_away*/) {
  if (held_since_ >= 0 && overdue()) ++counters_.starved;
  let_writes_go();
}

void ParallelIssue::let_writes_go() {
  if (held_since_ < 0) return;
  const Picoseconds wait = core_.hw.event_queue.now() - std::exchange(held_since_, -1);
  counters_.longest_write = std::max(counters_.longest_write, wait);
}

// ----------------------------------------------------------------------------------------------------------------- reports

void ParallelIssue::report(StatisticsSink& sink) const {
  constexpr double k_us = 1e-6;
  const auto each = [](double sum, std::uint64_t of) { return of > 0 ? sum / static_cast<double>(of) : 0; };
  sink.open("parallel_issue", k_doc);
  sink.text("policy", policy_name_, k_choice_doc);
  sink.value("batches", counters_.batches, "", "groups of reads issued together");
  sink.value("commands", counters_.commands, "", "commands of the host that read of flash");
  sink.value("commands a batch", each(static_cast<double>(counters_.commands), counters_.batches), "",
             "mean");
  sink.value("held", counters_.held, "", "commands that waited for a batch before theirs");
  sink.value("mean wait", each(static_cast<double>(counters_.waited) * k_us, counters_.held), "us",
             "of these");
  sink.value("longest wait", static_cast<double>(counters_.longest) * k_us, "us", "of these");
  sink.value("programs held", counters_.writes_held, "",
             "times that the next program of the write buffer waited for reads");
  sink.value("programs starved", counters_.starved, "",
             "programs sent out because they had waited for the bound");
  sink.value("longest hold", static_cast<double>(counters_.longest_write) * k_us, "us",
             "longest wait of a program for reads");
  sink.close();
}

}  // namespace tlmssd::firmware
