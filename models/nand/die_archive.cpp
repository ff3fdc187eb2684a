// A die in snapshots and reports.
#include "models/base/archive.h"
#include "models/nand/die_state.h"

namespace tlmssd {

void DieState::archive(Archive& a) {
  std::uint64_t size = blocks_.size();
  std::uint64_t units = std::uint64_t{units_per_page_} * geometry_.pages;
  std::uint32_t stamps = stamps_per_unit_;
  a(size);
  a(units);
  a(stamps);
  if (size != blocks_.size() || units != std::uint64_t{units_per_page_} * geometry_.pages ||
      stamps != stamps_per_unit_) {
    throw ArchiveError("snapshot does not fit: the dies have other shapes or mapping pages");
  }
  a(history_);
  a(events_);
  a(cycles_before_);
  archive_fill(a);
  if (a.saving()) {
    for (std::uint64_t i = 0; i < blocks_.size(); ++i) {
      Block& block = blocks_[i];
      if (block.erases == 0 && block.next_page == 0 && block.failed == 0) continue;
      a(i);
      a(block);
      if (slc_pages_ != 0) a(slc_erases_[i]);
      archive_content(a, i);
    }
    a(size);
    return;
  }
  blocks_ = ZeroPages<Block>(size);
  slc_erases_ = ZeroPages<std::uint32_t>(slc_erases_.size());
  mixed_.clear();
  free_mixed_.clear();
  for (;;) {
    std::uint64_t i = 0;
    a(i);
    if (i == size) return;
    if (i > size) throw ArchiveError("snapshot is damaged: a block beyond its die");
    a(blocks_[i]);
    if (slc_pages_ != 0) a(slc_erases_[i]);
    if (blocks_[i].next_page > pages_in(blocks_[i].mode()))
      throw ArchiveError("snapshot is damaged: a page beyond its block");
    archive_content(a, i);
  }
}

void DieState::archive_fill(Archive& a) {
  for (Lpn& first : fill_first_) a(first);
  a(fill_.block_step);
  a(fill_.program_step);
  a(fill_.page_step);
  a(fill_.sequence);
}

/// What block number `i` of blocks_ holds.
void DieState::archive_content(Archive& a, std::uint64_t i) {
  Block& block = blocks_[i];
  if (block.filled != 0) return;
  UnitContent* const units = contents_->block_to_write(die_, plane_of(i), number_of(i));
  a.bytes(units, std::size_t{block.next_page} * units_per_page_ * sizeof(UnitContent));
  const bool has_mixed = block.mixed != 0;
  if (!has_mixed) return;
  if (!a.saving()) block.mixed = 0;  // a number of the drive that was saved
  Mixed& mixed = mixed_of(block);
  a(mixed.slots);
  a(mixed.stamps);
  if (mixed.stamps.size() != mixed.slots.size() * stamps_per_unit_) {
    throw ArchiveError("snapshot is damaged: stamps of partly rewritten units");
  }
}

void DieState::report(StatisticsSink& sink) const {
  sink.value("senses", counts_.senses, "pages", "pages sensed, counted per plane when the array begins");
  sink.value(
      "programs", counts_.programs, "pages",
      "pages programmed, counted per plane when the array begins; flash.program counts those that ended");
  sink.value("copies", counts_.copies, "pages",
             "pages copied within the die, counted per plane; also among senses and programs");
  sink.value("erases", counts_.erases, "blocks", "blocks erased, counted per plane when the array begins");
  sink.value("erase_failures", counts_.erase_failures, "blocks",
             "blocks whose erase failed: worn out, or gone bad");
  if (part_.grown_bad_blocks > 0)
    sink.value("program_failures", counts_.program_failures, "pages",
               "of the programs, those that failed: their blocks have gone bad");
  if (slc_pages_ != 0) report_modes(sink);
}

void DieState::report_modes(StatisticsSink& sink) const {
  sink.value("slc_senses", counts_.slc_senses, "pages", "of the senses, those of blocks in SLC mode");
  sink.value("slc_programs", counts_.slc_programs, "pages", "of the programs, those of blocks in SLC mode");
  sink.value("slc_erases", counts_.slc_erases, "blocks", "of the erases, those into SLC mode");
  sink.value("folds", counts_.folds, "pages", "of the copies, those from SLC mode into native mode");
  std::uint64_t slc = 0;
  double sum = 0;
  double most = 0;
  for (std::uint32_t plane = 0; plane < geometry_.planes; ++plane) {
    for (std::uint32_t number = 0; number < geometry_.blocks; ++number) {
      slc += blocks_[at(plane, number)].slc;
      const double share = wear(PlaneId{plane}, BlockId{number});
      sum += share;
      most = std::max(most, share);
    }
  }
  sink.value("slc_blocks", slc, "blocks", "blocks that are in SLC mode now");
  sink.value("wear_mean", sum / static_cast<double>(blocks_.size()), "",
             "share of its life that a block has behind it: cycles / endurance, summed over both modes");
  sink.value("wear_most", most, "", "the same of the block that is worn most");
}

}  // namespace tlmssd
