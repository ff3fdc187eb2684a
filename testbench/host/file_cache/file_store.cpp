#include "testbench/host/file_cache/file_store.h"

namespace tlmssd {

FileStore::FileStore(std::uint32_t files, std::uint32_t slots) : slot_of_(files, k_none), copies_(slots) {
  for (Slot slot = 0; slot < slots; ++slot) free_.push_back(slot);
}

std::optional<FileStore::Slot> FileStore::take_free() {
  if (free_.empty()) return {};
  const Slot slot = free_.front();
  free_.pop_front();
  return slot;
}

void FileStore::insert(Slot slot, FileNumber file, std::uint32_t fetch) {
  Copy& copy = copies_[slot];
  copy.file = file;
  copy.fetch = fetch;
  copy.writing = true;
  slot_of_[file] = slot;
  ++used_;
  link(slot);
}

void FileStore::touch(Slot slot) {
  unlink(slot);
  link(slot);
}

std::optional<FileStore::Slot> FileStore::victim() const {
  Slot slot = oldest_;
  while (slot != k_none && (copies_[slot].writing || copies_[slot].readers > 0)) slot = copies_[slot].newer;
  return slot == k_none ? std::nullopt : std::optional(slot);
}

void FileStore::remove(Slot slot) {
  Copy& copy = copies_[slot];
  slot_of_[*copy.file] = k_none;
  copy.file.reset();
  copy.writing = false;
  --used_;
  unlink(slot);
}

/// As the one used last.
void FileStore::link(Slot slot) {
  copies_[slot].older = newest_;
  copies_[slot].newer = k_none;
  (newest_ == k_none ? oldest_ : copies_[newest_].newer) = slot;
  newest_ = slot;
}

void FileStore::unlink(Slot slot) {
  const Copy& copy = copies_[slot];
  (copy.older == k_none ? oldest_ : copies_[copy.older].newer) = copy.newer;
  (copy.newer == k_none ? newest_ : copies_[copy.newer].older) = copy.older;
}

void FileStore::archive(Archive& a) {
  struct Kept {
    Slot slot;
    FileNumber file;
    std::uint32_t fetch;
  };
  std::vector<Kept> kept;  // the one used longest ago first
  for (Slot slot = oldest_; slot != k_none; slot = copies_[slot].newer)
    kept.push_back({slot, *copies_[slot].file, copies_[slot].fetch});
  a(kept);
  a(free_);
  if (a.saving()) return;
  while (oldest_ != k_none) remove(oldest_);
  for (const Kept& one : kept) {
    if (one.slot >= slots() || one.file >= slot_of_.size() || slot_of_[one.file] != k_none ||
        copies_[one.slot].file)
      throw ArchiveError("snapshot is damaged: a file of the file cache that cannot be");
    insert(one.slot, one.file, one.fetch);
    committed(one.slot);
  }
  bool whole = used_ + free_.size() == slots();
  for (const Slot slot : free_) whole = whole && slot < slots() && !copies_[slot].file;
  if (!whole) throw ArchiveError("snapshot is damaged: slots of the file cache are missing");
}

}  // namespace tlmssd
