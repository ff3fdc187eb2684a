#include "firmware/cache/lru_order.h"

namespace tlmssd::firmware {

void LruOrder::append(Index line, List list) {
  Ends& ends = lists_[list];
  links_[line] = {ends.youngest, LineStore::k_none, list};
  (ends.youngest == LineStore::k_none ? ends.oldest : links_[ends.youngest].younger) = line;
  ends.youngest = line;
  ++ends.size;
}

void LruOrder::unlink(Index line) {
  Link& link = links_[line];
  Ends& ends = lists_[link.list];
  (link.older == LineStore::k_none ? ends.oldest : links_[link.older].younger) = link.younger;
  (link.younger == LineStore::k_none ? ends.youngest : links_[link.younger].older) = link.older;
  --ends.size;
  link.list = k_out;
}

void LruOrder::push(Index line) {
  if (line >= links_.size()) links_.resize(line + 1);
  if (links_[line].list != k_out) unlink(line);
  append(line, k_young);
}

void LruOrder::remove(Index line) {
  if (contains(line)) unlink(line);
}

LruOrder::List LruOrder::old_list(Index line) const {
  const LineStore::Line& state = store_.line(line);
  if (state.dirty == 0 && preferences_.clean_first) return k_clean;
  if (state.present == store_.all_sectors() && preferences_.complete_first) return k_complete;
  return k_partial;
}

// Lines enter the window as others leave it or as their number grows.
void LruOrder::age() {
  std::uint64_t old = 0;
  for (const List list : {k_clean, k_complete, k_partial}) old += lists_[list].size;
  const std::uint64_t all = old + lists_[k_young].size;
  auto target = static_cast<std::uint64_t>(preferences_.window * static_cast<double>(all));
  if (target == 0) target = 1;
  while (old < target && lists_[k_young].oldest != LineStore::k_none) {
    const Index line = lists_[k_young].oldest;
    unlink(line);
    append(line, old_list(line));
    const Index next = lists_[k_young].oldest;
    if (next != LineStore::k_none) prefetch(links_[next].younger);  // written when `next` leaves
    ++old;
  }
}

LruOrder::Index LruOrder::victim() {
  age();
  for (const List list : {k_clean, k_complete, k_partial}) {
    if (lists_[list].oldest != LineStore::k_none) return lists_[list].oldest;
  }
  return LineStore::k_none;
}

void LruOrder::archive(Archive& a) {
  for (std::size_t list = 0; list < k_lists; ++list) {
    std::vector<Index> lines;
    for (Index i = lists_[list].oldest; i != LineStore::k_none; i = links_[i].younger) lines.push_back(i);
    a(lines);
    if (a.saving()) continue;
    if (list == 0) {
      links_.clear();
      lists_ = {};
    }
    for (const Index line : lines) {
      if (line >= links_.size()) links_.resize(line + 1);
      append(line, static_cast<List>(list));
    }
  }
}

}  // namespace tlmssd::firmware
