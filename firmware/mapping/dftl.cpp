#include "firmware/mapping/dftl.h"

#include <algorithm>
#include <fmt/format.h>

#include "firmware/mapping/map_pages.h"
#include "models/base/input_error.h"
#include "models/base/statistics.h"

namespace tlmssd::firmware {

const ParameterTable<DftlConfig>& DftlConfig::parameters() {
  static const auto table =
      ParameterTable<DftlConfig>{}
          .bytes("cache", &DftlConfig::cache, {8, Bytes{1} << 40U},
                 "DRAM for map entries, 8 B each (logical and physical number); beyond that comes only the "
                 "directory of map pages")
          .choice("cache_in", &DftlConfig::cache_in, {"dram", "host"},
                  "where that cache lies: dram, or host, the host memory buffer (ssd.host.memory_buffer), "
                  "which is reached over the link; the directory stays in DRAM")
          .integer(
              "line", &DftlConfig::line, {0, 16384},
              "entries that are brought in and thrown out together; must divide the entries of a map page "
              "(mapping page / 4 B); 0: a whole map page")
          .flag(
              "segmented_lru", &DftlConfig::segmented_lru,
              "lines that have been used again are protected, up to half of the cache, from those that were "
              "used once (segmented LRU); false: plain LRU")
          .flag("batch_update", &DftlConfig::batch_update,
                "a map page that is written because a dirty line goes takes along all its dirty entries");
  return table;
}

namespace {

std::uint32_t checked_line(const DftlConfig& config, std::uint32_t per_page) {
  if (config.line == 0) return per_page;
  if (per_page % config.line == 0) return config.line;
  std::uint32_t nearest = std::min(config.line, per_page);
  while (per_page % nearest != 0) --nearest;
  throw refusal("firmware.mapping.line",
                fmt::format("{} entries do not divide a map page of {}", config.line, per_page),
                std::to_string(nearest));
}

std::uint64_t checked_capacity(const DftlConfig& config, std::uint32_t line, std::uint64_t lines) {
  const Bytes bytes = line * Dftl::k_cached_bytes;
  if (config.cache < bytes) {
    throw refusal("firmware.mapping.cache",
                  fmt::format("{} B cannot hold a line of {} entries of {} B", config.cache, line,
                              Dftl::k_cached_bytes),
                  fmt::format("{} B", bytes));
  }
  return std::clamp<std::uint64_t>(config.cache / bytes, 1, std::max<std::uint64_t>(lines, 1));
}

std::uint32_t ceiling(std::uint64_t whole, std::uint32_t part) {
  return static_cast<std::uint32_t>((whole + part - 1) / part);
}

}  // namespace

Dftl::Dftl(const Config& config, const Layout& layout)
    : logical_units_(layout.logical_units),
      per_page_(layout.unit_bytes / static_cast<std::uint32_t>(k_entry_bytes)),
      line_(checked_line(config, per_page_)),
      lines_per_page_(per_page_ / line_),
      pages_count_(ceiling(logical_units_, per_page_)),
      capacity_(checked_capacity(config, line_, ceiling(logical_units_, line_))),
      protected_(config.segmented_lru ? capacity_ / 2 : 0),
      batch_update_(config.batch_update),
      in_host_(config.lies_in_host()),
      entries_(logical_units_ + pages_count_),
      index_(capacity_),
      dirty_(pages_count_) {}

// ----------------------------------------------------------------------------------------------------------------- the table

void Dftl::update(Lpn unit, Ppn where) {
  entries_.write(unit) = where.entry();
  if (unit >= logical_units_) return;  // the GTD
  if (where == k_nowhere && unit >= void_first_ && unit < void_end_) return;
  Index i = index_.find(unit / line_);
  if (i == k_none) {
    ++stats_.late_entries;
    i = insert(unit / line_, k_late);
  }
  if (!lines_[i].dirty) set_dirty(i);
}

// The cache, unless it lies in the host's memory, then the GTD. Places in the cache are spread by
// number: only the amount of memory that is accessed matters. Of an entry the physical number alone
// is transferred; the search for it is part of the firmware stage.
MappingScheme::Span Dftl::entries(Lpn first, std::uint64_t count) const {
  if (first >= logical_units_) {
    const std::uint64_t page = first - logical_units_;
    const std::uint64_t pages = std::min<std::uint64_t>(count, pages_count_ - page);
    return {cache_dram_bytes() + k_entry_bytes * page, k_entry_bytes * pages};
  }
  const Bytes bytes = std::min(k_entry_bytes * count, cache_bytes());
  return {k_cached_bytes * first % (cache_bytes() - bytes + 1), bytes};
}

// ------------------------------------------------------------------------------------------------------- the lines in the cache

Dftl::Index Dftl::insert(std::uint32_t number, Segment segment) {
  Index i = free_;
  if (i != k_none) {
    free_ = lines_[i].newer;
    lines_[i] = {};
  } else {
    i = static_cast<Index>(lines_.size());
    lines_.emplace_back();
  }
  lines_[i].number = number;
  index_.insert(number, i);
  append(i, segment);
  stats_.most_lines = std::max(stats_.most_lines, lines());
  return i;
}

void Dftl::remove(Index i) {
  if (lines_[i].dirty) set_clean(i);
  unlink(i);
  index_.erase(lines_[i].number);
  lines_[i].newer = free_;
  free_ = i;
}

// A line that is used again is protected; when there are too many of those, the one used longest
// ago has to prove itself anew.
void Dftl::use(Index i) {
  unlink(i);
  append(i, protected_ > 0 ? k_protected : k_probationary);
  if (segments_[k_protected].size <= protected_) return;
  const Index demoted = segments_[k_protected].oldest;
  unlink(demoted);
  append(demoted, k_probationary);
}

void Dftl::append(Index i, Segment segment) {
  Ends& ends = segments_[segment];
  Line& line = lines_[i];
  line.segment = segment;
  line.older = ends.newest;
  line.newer = k_none;
  (ends.newest == k_none ? ends.oldest : lines_[ends.newest].newer) = i;
  ends.newest = i;
  ++ends.size;
}

void Dftl::unlink(Index i) {
  const Line& line = lines_[i];
  Ends& ends = segments_[line.segment];
  (line.older == k_none ? ends.oldest : lines_[line.older].newer) = line.newer;
  (line.newer == k_none ? ends.newest : lines_[line.newer].older) = line.older;
  --ends.size;
}

void Dftl::set_dirty(Index i) {
  Line& line = lines_[i];
  std::uint32_t& first = dirty_[page_of(line)];
  line.dirty = true;
  line.previous_dirty = k_none;
  line.next_dirty = first - 1;
  if (first != 0) lines_[first - 1].previous_dirty = i;
  first = i + 1;
  ++dirty_lines_;
}

void Dftl::set_clean(Index i) {
  Line& line = lines_[i];
  line.dirty = false;
  if (line.next_dirty != k_none) lines_[line.next_dirty].previous_dirty = line.previous_dirty;
  if (line.previous_dirty != k_none) {
    lines_[line.previous_dirty].next_dirty = line.next_dirty;
  } else {
    dirty_[page_of(line)] = line.next_dirty + 1;
  }
  --dirty_lines_;
}

Dftl::Index Dftl::victim() const {
  for (const Segment segment : {k_late, k_probationary}) {
    if (segments_[segment].oldest != k_none) return segments_[segment].oldest;
  }
  return segments_[k_protected].oldest;
}

void Dftl::forget_lines() {
  while (victim() != k_none) remove(victim());
}

// -------------------------------------------------------------------------------------------------------------------- fetching

bool Dftl::at_hand(Lpn first, std::uint64_t count) const {
  const std::uint64_t end = std::min<std::uint64_t>(first + count, logical_units_);
  for (std::uint64_t line = first / line_; line * line_ < end; ++line) {
    if (index_.find(static_cast<Lpn>(line)) == k_none) return false;
  }
  return true;
}

std::uint64_t Dftl::in_host_memory(Lpn first, std::uint64_t count) const {
  const std::uint64_t end = std::min<std::uint64_t>(first + count, logical_units_);
  std::uint64_t entries = 0;
  for (std::uint64_t at = first; at < end;) {
    const std::uint64_t next = std::min(end, (at / line_ + 1) * line_);
    if (index_.find(static_cast<Lpn>(at / line_)) != k_none) entries += next - at;
    at = next;
  }
  return entries;
}

bool Dftl::resident(Lpn first, std::uint64_t count) {
  if (excess() > 0) return false;
  if (count == 0) return true;
  const std::uint64_t end = (first + count - 1) / line_ + 1;
  for (std::uint64_t line = first / line_; line < end; ++line) {
    if (index_.find(static_cast<Lpn>(line)) == k_none) return false;
  }
  for (std::uint64_t line = first / line_; line < end; ++line) use(index_.find(static_cast<Lpn>(line)));
  stats_.lookups += count;
  stats_.line_lookups += end - first / line_;
  return true;
}

Task<> Dftl::fetch(Lpn first, std::uint64_t count, Ledger* ledger) {
  const std::uint64_t end = first + count;
  for (std::uint64_t at = first; at < end;) {
    const auto page = static_cast<std::uint32_t>(at / per_page_);
    const std::uint64_t next = std::min(end, (std::uint64_t{page} + 1) * per_page_);
    co_await fetch_from(page, at, next);
    at = next;
  }
  if (excess() > 0) co_await make_space(0);
  charge(ledger);
}

Task<> Dftl::fetch_to_deallocate(Lpn first, std::uint64_t count, Ledger* ledger) {
  const std::uint64_t end = first + count;
  const std::uint64_t first_whole = ceiling(first, per_page_);
  const std::uint64_t end_whole = end >= logical_units_ ? pages_count_ : end / per_page_;
  if (first_whole >= end_whole) {
    if (!resident(first, count)) co_await fetch(first, count, ledger);
    co_return;
  }
  if (first_whole * per_page_ > first) {
    co_await fetch_from(first / per_page_, first, first_whole * per_page_);
  }
  if (end_whole * per_page_ < end) {
    co_await fetch_from(static_cast<std::uint32_t>(end_whole), end_whole * per_page_, end);
  }
  charge(ledger);
}

void Dftl::charge(Ledger* ledger) const {
  const Picoseconds now = pages_->event_queue().now();
  if (ledger != nullptr && ledger->mark() < now) ledger->charge(Cause::map_fetch, now);
}

// Brings in what is missing of the units from `first` up to `end`, all in one map page.
Task<> Dftl::fetch_from(std::uint32_t page, std::uint64_t first, std::uint64_t end) {
  const auto first_line = static_cast<std::uint32_t>(first / line_);
  const auto last_line = static_cast<std::uint32_t>((end - 1) / line_);
  std::uint64_t missing = 0;
  for (std::uint32_t line = first_line; line <= last_line; ++line) {
    const Index i = index_.find(line);
    if (i != k_none) {
      use(i);
    } else {
      ++missing;
    }
  }
  stats_.lookups += end - first;
  stats_.line_lookups += last_line - first_line + 1;
  stats_.misses += missing;
  if (missing == 0) co_return;
  // Of more lines than fit, the first have been used and are gone again when the last come.
  const std::uint64_t room = std::min(missing, capacity_);
  awaited_ += room;
  if (excess(room) > 0) co_await make_space(room);
  co_await read_page(page);
  awaited_ -= room;
  take_in(first_line, last_line, room);
}

void Dftl::take_in(std::uint32_t first, std::uint32_t last, std::uint64_t most) {
  std::uint64_t missing = 0;
  for (std::uint32_t line = first; line <= last; ++line) missing += index_.find(line) == k_none ? 1 : 0;
  for (std::uint32_t line = first; line <= last; ++line) {
    if (index_.find(line) != k_none) continue;
    if (missing-- > most) continue;
    insert(line, k_probationary);
    if (in_host_) add_line(taken_in_, line);
  }
  if (in_host_) post_lines();
  // Several commands at once may have brought in more than fits: what is clean goes at once.
  while (lines() > capacity_ && !lines_[victim()].dirty) {
    ++stats_.clean_evictions;
    remove(victim());
  }
}

// Evicts down to the capacity less `own` lines. How much there is to do is settled in the
// beginning: writing map pages may start collection, whose moves put more entries in, which are
// left to the next command.
Task<> Dftl::make_space(std::uint64_t own) {
  for (std::uint64_t most = excess(own); most > 0 && excess(own) > 0 && lines() > 0; --most) {
    const Index i = victim();
    const std::uint32_t number = lines_[i].number;
    const bool dirty = lines_[i].dirty;
    const bool late = lines_[i].segment == k_late;
    remove(i);
    ++(dirty ? stats_.dirty_evictions : stats_.clean_evictions);
    if (dirty) co_await write_back(number, late);
  }
}

// Dirty line `number` has been taken out: its map page is written anew. A read-only drive writes
// nothing; what is in flash is old, which the spare areas would tell.
Task<> Dftl::write_back(std::uint32_t number, bool late) {
  if (pages_->read_only()) co_return;
  const std::uint32_t page = number / lines_per_page_;
  MemoryAccess lines(pages_->hardware(), nullptr, Cause::map_fetch);  // at the same time as the page
  if (in_host_) {
    MemorySpans dirty;
    add_line(dirty, number);
    for (Index i = dirty_[page] - 1; i != k_none; i = lines_[i].next_dirty) {
      if (goes_along(lines_[i], late)) add_line(dirty, lines_[i].number);
    }
    lines.add(MemoryKind::host, dirty, false);
  }
  if (line_ < per_page_ && pages_->in_flash(unit_of(page))) co_await read_page(page);
  if (in_host_) co_await lines;
  const bool written = co_await pages_->write(unit_of(page));
  if (!written) co_return;
  ++stats_.write_backs;
  for (Index i = dirty_[page] - 1; i != k_none;) {
    const Index next = lines_[i].next_dirty;
    if (goes_along(lines_[i], late)) {
      ++stats_.batched;
      set_clean(i);
    }
    i = next;
  }
  pages_->pump();
}

void Dftl::post_lines() {
  for (const MemorySpans::Span& lines : taken_in_) {
    pages_->hardware().memory.access(MemoryKind::host, lines.address, lines.bytes, true, posted_);
  }
  taken_in_.clear();
}

Task<> Dftl::read_page(std::uint32_t page) {
  ++stats_.page_reads;
  const auto under_way = reading_.find(page);
  if (under_way != reading_.end()) {
    ++stats_.shared_reads;
    co_await under_way->second.wait();
    co_return;
  }
  reading_.try_emplace(page);
  co_await pages_->read(unit_of(page));
  auto done = reading_.extract(page);
  while (const auto waiter = done.mapped().pop()) pages_->event_queue().soon(waiter);
}

// ------------------------------------------------------------------------------------------------------------------------ trim

// Map pages of which everything is unmapped are forgotten, as if they had never been written.
void Dftl::deallocation(std::uint64_t first, std::uint64_t end) {
  const std::uint64_t first_page = ceiling(first, per_page_);
  const std::uint64_t end_page = end >= logical_units_ ? pages_count_ : end / per_page_;
  void_first_ = void_end_ = 0;
  if (first_page >= end_page) return;
  void_first_ = first_page * per_page_;
  void_end_ = end_page * per_page_;
  for (auto page = static_cast<std::uint32_t>(first_page); page < end_page; ++page) {
    while (dirty_[page] != 0) set_clean(dirty_[page] - 1);
    if (pages_->stored(unit_of(page))) ++stats_.void_pages;
    pages_->drop(unit_of(page));
  }
}

// --------------------------------------------------------------------------------------------------------------------- reports

void Dftl::reset_statistics() {
  stats_ = {};
  stats_.most_lines = lines();
}

void Dftl::report(StatisticsSink& sink) const {
  const DftlStatistics& s = stats_;
  sink.value("look-ups", s.lookups, "", "map entries that commands asked for");
  sink.value("hits", s.lookups - s.misses, "",
             "of these, entries that were in the cache, or came with one that was not");
  sink.value("hit share", ratio(s.lookups - s.misses, s.lookups), "share", "hits per look-up");
  sink.value("line look-ups", s.line_lookups, "",
             "lines of entries that commands asked for, each of them once");
  sink.value("line hit share", ratio(s.line_lookups - s.misses, s.line_lookups), "share",
             "of these, lines that were in the cache: less than the hit share where a command asks for more "
             "than one entry of a line");
  sink.value("misses", s.misses, "", "lines of entries that had to be brought in");
  sink.value("map page reads", s.page_reads - s.shared_reads, "",
             "map pages read from flash or the write buffer, or found never to have been written");
  sink.value("shared reads", s.shared_reads, "",
             "times a command waited for a map page that was being read already");
  sink.value("clean evictions", s.clean_evictions, "", "lines dropped");
  sink.value("dirty evictions", s.dirty_evictions, "", "lines that had to be written first");
  sink.value("map page writes", s.write_backs, "", "map pages inserted into the write buffer");
  sink.value("lines per write", ratio(s.write_backs + s.batched, s.write_backs), "",
             "dirty lines that a write of a map page took along (batch update)");
  sink.value("late entries", s.late_entries, "",
             "lines that were not cached when a program or a move changed them, put in beyond the capacity");
  sink.value("void pages", s.void_pages, "", "map pages that trims made void as a whole");
  sink.value("capacity", capacity_, "", "lines that the cache holds");
  sink.value("lines", lines(), "", "lines in the cache at the end");
  sink.value("dirty lines", dirty_lines_, "", "of these, lines that differ from flash");
  sink.value("most lines", s.most_lines, "", "most lines at any time, late entries included");
  sink.value("cache bytes", cache_bytes(), "B",
             in_host_ ? "host memory for map entries" : "DRAM for map entries");
  if (in_host_) sink.text("cache in", "host", "the host memory buffer holds the cache");
  sink.value("directory bytes", gtd_bytes(), "B", "DRAM for the places of map pages");
}

void Dftl::describe_stall(std::string& text) const {
  text += fmt::format("  map: {} of {} lines cached, {} dirty, {} awaited, {} map pages being read\n",
                      lines(), capacity_, dirty_lines_, awaited_, reading_.size());
}

void Dftl::archive(Archive& a) {
  std::uint64_t shape[] = {capacity_, line_};
  a.bytes(shape, sizeof shape);
  if (shape[0] != capacity_ || shape[1] != line_) {
    throw ArchiveError(fmt::format(
        "the snapshot has {} lines of {} map entries in its cache, this drive has room for {} of {}",
        shape[0], shape[1], capacity_, line_));
  }
  a(entries_);
  a(stats_);
  if (!a.saving()) forget_lines();
  for (const Segment segment : {k_late, k_probationary, k_protected}) {
    std::uint64_t count = segments_[segment].size;
    a(count);
    Index at = segments_[segment].oldest;
    for (std::uint64_t n = 0; n < count; ++n) {
      std::uint32_t number = 0;
      bool dirty = false;
      if (a.saving()) {
        number = lines_[at].number;
        dirty = lines_[at].dirty;
        at = lines_[at].newer;
      }
      a(number);
      a(dirty);
      if (a.saving()) continue;
      if (std::uint64_t{number} * line_ >= logical_units_ || index_.find(number) != k_none)
        throw ArchiveError("snapshot is damaged: a map line that cannot be");
      const Index i = insert(number, segment);
      if (dirty) set_dirty(i);
    }
  }
}

}  // namespace tlmssd::firmware
