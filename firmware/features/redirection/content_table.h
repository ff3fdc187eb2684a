// Contents that several units hold, and where on flash they lie: a bounded table.
//
// A place is a unit of flash that holds the content for as long as it is not erased, whether the
// map points there or not. Places of a content are listed by die, the youngest first, so that it
// costs a look at each die to find one on a die that is free. When there is no room for another
// place, the content used longest ago is forgotten with all of its places. O(1) for everything,
// with O(dies + places of it) for forgetting a content.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/base/ppn.h"
#include "firmware/base/unit_hash.h"
#include "firmware/base/use_order.h"
#include "models/base/archive.h"

namespace tlmssd::firmware {

class ContentTable {
 public:
  using Index = std::uint32_t;  ///< of a content, or of a place
  static constexpr Index k_none = UnitHash::k_none;
  struct Place {
    std::uint32_t where = 0;  ///< number of the physical unit
    Lpn unit = 0;             ///< as which it was programmed there
    Index content = k_none;
    std::uint32_t die = 0;
    Index older = k_none;  ///< of the same content and die
    Index newer = k_none;
  };

  ContentTable(std::uint32_t dies, std::uint32_t contents, std::uint32_t places)
      : dies_(dies), most_contents_(contents), most_places_(places) {}

  [[nodiscard]] std::uint32_t contents() const {
    return static_cast<std::uint32_t>(contents_.size() - free_contents_.size());
  }
  [[nodiscard]] std::uint32_t places() const {
    return static_cast<std::uint32_t>(places_.size() - free_places_.size());
  }
  [[nodiscard]] bool has_room_for_content() const { return contents() < most_contents_; }
  [[nodiscard]] bool has_room_for_place() const { return places() < most_places_; }

  /// The entry of a content by its number; k_none when it is not in the table.
  [[nodiscard]] Index find(std::uint32_t number) const { return by_number_.find(number); }
  /// The place at `where`; k_none when none is known there.
  [[nodiscard]] Index at(Ppn where) const { return by_place_.find(where.number()); }
  [[nodiscard]] const Place& place(Index place) const { return places_[place]; }
  /// The youngest place of a content on a die; k_none when there is none.
  [[nodiscard]] Index on_die(Index content, std::uint32_t die) const {
    return youngest_[std::size_t{content} * dies_ + die];
  }
  /// Dies on which the content lies.
  [[nodiscard]] std::uint32_t dies_of(Index content) const { return contents_[content].dies; }
  [[nodiscard]] std::uint32_t number_of(Index content) const { return contents_[content].number; }
  /// How often it was used since it came in.
  [[nodiscard]] std::uint32_t uses(Index content) const { return contents_[content].uses; }
  /// The content used longest ago; k_none when there is none.
  [[nodiscard]] Index oldest() const { return order_.oldest(); }

  /// An entry for a content that has none; has_room_for_content() must hold.
  Index add(std::uint32_t number) {
    auto content = static_cast<Index>(contents_.size());
    if (free_contents_.empty()) {
      contents_.emplace_back();
      youngest_.resize(youngest_.size() + dies_, k_none);
    } else {
      content = free_contents_.back();
      free_contents_.pop_back();
    }
    contents_[content] = {number, 0, 0, k_none, k_none};
    by_number_.insert(number, content);
    order_.append(contents_, content);
    return content;
  }
  /// It was read, or written once more.
  void use(Index content) {
    contents_[content].uses += contents_[content].uses < 0xFFFFFFFFU ? 1 : 0;
    order_.unlink(contents_, content);
    order_.append(contents_, content);
  }
  /// The content lies at `where`, where no place is known; has_room_for_place() must hold.
  void add_place(Index content, std::uint32_t die, Ppn where, Lpn unit) {
    auto place = static_cast<Index>(places_.size());
    if (free_places_.empty()) {
      places_.emplace_back();
    } else {
      place = free_places_.back();
      free_places_.pop_back();
    }
    Index& youngest = youngest_[std::size_t{content} * dies_ + die];
    places_[place] = {where.number(), unit, content, die, youngest, k_none};
    if (youngest == k_none) {
      ++contents_[content].dies;
    } else {
      places_[youngest].newer = place;
    }
    youngest = place;
    by_place_.insert(where.number(), place);
  }
  void drop_place(Index place) {
    const Place gone = places_[place];
    Index& youngest = youngest_[std::size_t{gone.content} * dies_ + gone.die];
    (gone.newer == k_none ? youngest : places_[gone.newer].older) = gone.older;
    if (gone.older != k_none) places_[gone.older].newer = gone.newer;
    if (youngest == k_none) --contents_[gone.content].dies;
    by_place_.erase(gone.where);
    free_places_.push_back(place);
  }
  /// Forgets a content and its places.
  void drop(Index content) {
    for (std::uint32_t die = 0; die < dies_; ++die) {
      while (on_die(content, die) != k_none) drop_place(on_die(content, die));
    }
    by_number_.erase(contents_[content].number);
    order_.unlink(contents_, content);
    free_contents_.push_back(content);
  }

  void archive(Archive& a) {
    a(contents_);
    a(youngest_);
    a(places_);
    a(free_contents_);
    a(free_places_);
    a(order_);
    if (a.saving()) return;
    check_restored();
    by_number_ = UnitHash();
    by_place_ = UnitHash();
    std::size_t contents_met = 0;
    std::size_t places_met = 0;
    for (Index content = oldest(); content != k_none; content = contents_[content].newer) {
      if (++contents_met > contents_.size()) damaged();
      by_number_.insert(contents_[content].number, content);
      for (std::uint32_t die = 0; die < dies_; ++die) {
        for (Index place = on_die(content, die); place != k_none; place = places_[place].older) {
          if (++places_met > places_.size()) damaged();
          by_place_.insert(places_[place].where, place);
        }
      }
    }
    if (contents_met != contents() || places_met != places()) damaged();
  }

 private:
  struct Content {
    std::uint32_t number = 0;
    std::uint32_t uses = 0;
    std::uint32_t dies = 0;
    Index older = k_none;
    Index newer = k_none;
  };
  [[noreturn]] static void damaged() {
    throw ArchiveError("snapshot is damaged: the table of contents does not fit together");
  }
  /// Refuses indices beyond what they point into.
  void check_restored() const {
    const auto check = [](bool sound) {
      if (!sound) damaged();
    };
    const auto content = [&](Index i) { return i == k_none || i < contents_.size(); };
    const auto place = [&](Index i) { return i == k_none || i < places_.size(); };
    check(contents_.size() <= most_contents_ && places_.size() <= most_places_);
    check(youngest_.size() == contents_.size() * dies_);
    check(free_contents_.size() <= contents_.size() && free_places_.size() <= places_.size());
    check(content(order_.oldest()) && content(order_.newest()));
    for (const Content& one : contents_) check(content(one.older) && content(one.newer));
    for (const Index youngest : youngest_) check(place(youngest));
    for (const Place& one : places_) {
      check(one.content < contents_.size() && one.die < dies_);
      check(place(one.older) && place(one.newer));
    }
    for (const Index i : free_contents_) check(i < contents_.size());
    for (const Index i : free_places_) check(i < places_.size());
  }

  std::uint32_t dies_;
  std::uint32_t most_contents_;
  std::uint32_t most_places_;
  UnitHash by_number_;
  UnitHash by_place_;
  std::vector<Content> contents_;
  std::vector<Index> youngest_;  ///< of each content on each die
  std::vector<Place> places_;
  std::vector<Index> free_contents_;
  std::vector<Index> free_places_;
  UseOrder<Content> order_;
};

}  // namespace tlmssd::firmware
