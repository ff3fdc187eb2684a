// Admission policies against plain simulations of the same accesses, which share nothing with them:
// every count must agree, timed and untimed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <list>

#include "testbench/loads/requests/distribution.h"
#include "testbench/tests/file_cache/rig.h"

namespace tlmssd::filecache_tests {
namespace {

constexpr std::uint32_t k_files = 60;
constexpr std::uint32_t k_slots = 14;
constexpr std::size_t k_accesses = 3000;

struct Counts {
  std::uint64_t hits = 0;
  std::uint64_t memory_hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t written = 0;
  std::uint64_t evicted = 0;
  std::uint64_t rejected = 0;
  std::uint64_t without_room = 0;
  std::uint64_t used = 0;
  bool operator==(const Counts&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Counts& c) {
  return out << c.hits << " hits, " << c.memory_hits << " in memory, " << c.misses << " misses, " << c.written
             << " written, " << c.evicted << " evicted, " << c.rejected << " rejected, " << c.without_room
             << " without room, " << c.used << " used";
}

const std::vector<FileNumber>& sequence() {
  static const std::vector<FileNumber> all = [] {
    Positions positions(parse_distribution("zipf:0.9"), k_files, true, 11);
    std::vector<FileNumber> result;
    for (std::size_t i = 0; i < k_accesses; ++i) result.push_back(static_cast<FileNumber>(positions.draw(0)));
    return result;
  }();
  return all;
}

/// Slots that the pSLC has left while access number `n` is served.
std::uint32_t left(std::size_t n) {
  return static_cast<std::uint32_t>(10 + 9 * std::sin(static_cast<double>(n) / 70));
}

/// The cache on the drive, as a list.
struct Reference {
  std::list<FileNumber> copies;  ///< the one used last first
  Counts counts;
  bool hit(FileNumber file) {
    const auto found = std::find(copies.begin(), copies.end(), file);
    if (found == copies.end()) return false;
    copies.splice(copies.begin(), copies, found);
    ++counts.hits;
    return true;
  }
  void write(FileNumber file, std::uint32_t most) {
    while (!copies.empty() && copies.size() + 1 > most) {
      copies.pop_back();
      ++counts.evicted;
    }
    if (most == 0) {
      ++counts.without_room;
      return;
    }
    copies.push_front(file);
    ++counts.written;
  }
  Counts result() {
    counts.used = copies.size();
    return counts;
  }
};

Counts reference_all() {
  Reference r;
  for (const FileNumber file : sequence()) {
    if (r.hit(file)) continue;
    ++r.counts.misses;
    r.write(file, k_slots);
  }
  return r.result();
}

Counts reference_none() {
  Counts counts;
  counts.misses = counts.rejected = k_accesses;
  return counts;
}

Counts reference_dfcache(std::uint32_t accesses, std::size_t window, std::uint32_t times = 1) {
  Reference r;
  const auto& all = sequence();
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (r.hit(all[n])) continue;
    ++r.counts.misses;
    const std::size_t from = n + 1 >= window ? n + 1 - window : 0;
    const auto often = std::count(all.begin() + static_cast<std::ptrdiff_t>(from),
                                  all.begin() + static_cast<std::ptrdiff_t>(n + 1), all[n]);
    if (often >= accesses) {
      r.write(all[n], std::min(k_slots, times * left(n)));
    } else {
      ++r.counts.rejected;
    }
  }
  return r.result();
}

Counts reference_sifter(std::size_t memory) {
  Reference r;
  std::vector<std::pair<FileNumber, bool>> held;  // the one used last at the end
  for (const FileNumber file : sequence()) {
    const auto found =
        std::find_if(held.begin(), held.end(), [&](const auto& one) { return one.first == file; });
    if (found != held.end()) {
      held.erase(found);
      held.emplace_back(file, true);
      ++r.counts.memory_hits;
      continue;
    }
    if (r.hit(file)) continue;
    ++r.counts.misses;
    held.emplace_back(file, false);
    if (held.size() <= memory) continue;
    const auto [out, again] = held.front();
    held.erase(held.begin());
    if (again) {
      r.write(out, k_slots);
    } else {
      ++r.counts.rejected;
    }
  }
  return r.result();
}

Counts measured(const std::string& admission, const std::map<std::string, Value, std::less<>>& parameters,
                bool timed) {
  return drive_tests::in_child<Counts>([&] {
    RigOptions options = small_cache(admission, k_files, k_slots);
    options.policy = parameters;
    const Rig* self = nullptr;
    options.free_pslc = [&self] {
      return std::optional<Bytes>(left(self->cache.statistics().accesses - 1) * 64_KiB + 100);
    };
    Rig rig(options);
    self = &rig;
    timed ? rig.run(rig.reads(sequence())) : rig.run_untimed(rig.reads(sequence()));
    const FileCache::Statistics& s = rig.cache.statistics();
    if (s.joined > 0 || rig.driver.failed() > 0 || !rig.violations().empty())
      throw std::runtime_error("something else happened");
    return Counts{s.hits,    s.memory_hits, s.misses,       s.written,
                  s.evicted, s.rejected,    s.without_room, rig.cache.store().used()};
  });
}

}  // namespace

TEST_CASE("every admission policy counts as a plain simulation of it does") {
  struct Case {
    const char* name;
    std::map<std::string, Value, std::less<>> parameters;
    Counts expected;
  };
  const Case cases[] = {
      {"all", {}, reference_all()},
      {"none", {}, reference_none()},
      {"dfcache", {}, reference_dfcache(2, 10'000)},
      {"dfcache", {{"accesses", whole(3)}, {"window", whole(90)}}, reference_dfcache(3, 90)},
      {"dfcache", {{"accesses", whole(1)}, {"window", whole(1)}}, reference_dfcache(1, 1)},
      {"dfcache", {{"within", Value(std::string("size"))}}, reference_dfcache(2, 10'000, 2)},
      {"cachesifter", {{"memory", whole(5 * 64_KiB)}}, reference_sifter(5)},
      {"cachesifter", {{"memory", whole(64_KiB)}}, reference_sifter(1)},
  };
  for (const Case& one : cases) {
    INFO(one.name << ", case " << &one - cases);
    CHECK(measured(one.name, one.parameters, false) == one.expected);
    CHECK(measured(one.name, one.parameters, true) == one.expected);
  }
  CHECK(reference_dfcache(1, 1).without_room + reference_dfcache(2, 10'000).evicted > 50);
}

TEST_CASE("admission policies that are promised") {
  std::string names;
  for (const PolicyInfo& info : admission_family().infos()) names += info.name + " ";
  CHECK(names == "all none dfcache cachesifter file-classes ");
}

}  // namespace tlmssd::filecache_tests
