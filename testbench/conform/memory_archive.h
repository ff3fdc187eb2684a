// An archive in memory: what a policy saves, to be restored into another one.
#pragma once

#include <cstring>
#include <vector>

#include "models/base/archive.h"

namespace tlmssd {

class MemoryArchive final : public Archive {
 public:
  [[nodiscard]] bool saving() const override { return saving_; }
  void bytes(void* data, std::size_t size) override {
    if (saving_) {
      const auto* const begin = static_cast<const unsigned char*>(data);
      bytes_.insert(bytes_.end(), begin, begin + size);
      return;
    }
    if (bytes_.size() - at_ < size) throw ArchiveError("reads more than was saved");
    std::memcpy(data, bytes_.data() + at_, size);
    at_ += size;
  }
  /// From now on it gives back what was saved.
  void rewind() {
    saving_ = false;
    at_ = 0;
  }
  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }

 private:
  bool saving_ = true;
  std::vector<unsigned char> bytes_;
  std::size_t at_ = 0;
};

}  // namespace tlmssd
