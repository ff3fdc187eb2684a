#include "firmware/core/decision_texts.h"

#include <fmt/format.h>
#include <string>
#include <vector>

#include "firmware/core/core.h"

namespace tlmssd::firmware {

namespace {

Decision of_block(const Core& core, DecisionKind kind, std::string_view what, std::string_view why,
                  BlockNumber block) {
  return {.kind = kind, .what = what, .why = why, .pu = core.layout.pu_of(block), .block = block};
}

}  // namespace

void tell_block(const Core& core, DecisionKind kind, std::string_view what, std::string_view why,
                BlockNumber block) {
  if (!wanted(core.hw, kind)) return;
  Decision decision = of_block(core, kind, what, why, block);
  decision.valid = core.pool.info(block).valid;
  note(core.hw, decision);
}

void tell_remap(const Core& core, Lpn unit, Ppn from, Ppn to, std::string_view why) {
  if (!wanted(core.hw, DecisionKind::remap)) return;
  Decision decision{.kind = DecisionKind::remap, .what = "mapped", .why = why};
  decision.lpns = {&unit, 1};
  decision.from = from;
  decision.to = to;
  if (to != k_nowhere) decision.block = core.layout.block_of(to);
  note(core.hw, decision);
}

void tell_program(const Core& core, const ProgramJob& job) {
  if (!wanted(core.hw, DecisionKind::write)) return;
  const bool opened = core.layout.first_unit(job.block) == job.base;
  const std::string why = fmt::format("{} data for the {} stream, {}{}", name_of(job.purpose),
                                      name_of(job.target), opened ? "a block just opened" : "the open block",
                                      job.mode == BlockMode::slc ? " in SLC mode" : "");
  std::vector<Lpn> units;
  for (std::uint32_t n = 0; n < job.live; ++n) units.push_back(job.lpn(n));
  Decision decision = of_block(core, DecisionKind::write, "program", why, job.block);
  decision.valid = core.pool.info(job.block).valid;
  decision.lpns = units;
  decision.to = job.base;
  note(core.hw, decision);
}

void tell_code(const Core& core, const ReadOp& read, std::string_view what, std::string_view why) {
  if (!wanted(core.hw, DecisionKind::ecc)) return;
  const std::string text =
      fmt::format("{}: code {}, read-retry level {}", why, name_of(read.op.code), read.op.retry_level);
  std::vector<Lpn> units;
  for (std::uint32_t at = read.low; at <= read.high; ++at) {
    if (read.wanted[at] != k_no_unit) units.push_back(read.wanted[at]);
  }
  Decision decision = of_block(core, DecisionKind::ecc, what, text, read.block);
  decision.lpns = units;
  note(core.hw, decision);
}

}  // namespace tlmssd::firmware
