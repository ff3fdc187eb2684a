// Files that a policy holds back in the host's memory, in the order of their last use.
#pragma once

#include <list>
#include <unordered_map>
#include <vector>

#include "models/base/archive.h"
#include "testbench/host/file_cache/admission_policy.h"

namespace tlmssd {

class HeldFiles {
 public:
  struct Held {
    FileNumber file;
    std::uint32_t mark;  ///< the policy's own
  };

  /// `bytes` of memory. Throws InputError when no file fits into it ("file_cache.memory").
  HeldFiles(Bytes bytes, const AdmissionContext& context);

  [[nodiscard]] std::size_t size() const { return held_.size(); }
  /// The file is used; null: it is not held.
  Held* use(FileNumber file) {
    const auto found = places_.find(file);
    if (found == places_.end()) return nullptr;
    held_.splice(held_.begin(), held_, found->second);
    return &*found->second;
  }
  /// Null: it is not held. Finding it is no use of it.
  [[nodiscard]] const Held* find(FileNumber file) const {
    const auto found = places_.find(file);
    return found == places_.end() ? nullptr : &*found->second;
  }
  [[nodiscard]] bool has_room_for(FileNumber file) const { return used_ + context_.size(file) <= room_; }
  /// The one used longest ago; there must be one.
  [[nodiscard]] const Held& oldest() const { return held_.back(); }
  /// `file`, which is not held, is the one used last.
  void hold(FileNumber file, std::uint32_t mark) {
    held_.push_front({file, mark});
    places_[file] = held_.begin();
    used_ += context_.size(file);
  }
  /// False: it was not held.
  bool drop(FileNumber file) {
    const auto found = places_.find(file);
    if (found == places_.end()) return false;
    used_ -= context_.size(file);
    held_.erase(found->second);
    places_.erase(found);
    return true;
  }
  void archive(Archive& a) {
    std::vector<Held> all(held_.begin(), held_.end());
    a(all);
    if (a.saving()) return;
    held_.clear();
    places_.clear();
    used_ = 0;
    for (auto one = all.rbegin(); one != all.rend(); ++one) hold(one->file, one->mark);
  }

 private:
  AdmissionContext context_;
  Bytes room_;
  Bytes used_ = 0;
  std::list<Held> held_;  ///< the one used last first
  std::unordered_map<FileNumber, std::list<Held>::iterator> places_;
};

}  // namespace tlmssd
