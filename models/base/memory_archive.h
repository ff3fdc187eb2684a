// An archive in memory: what one object saves, to be restored into another.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "models/base/archive.h"

namespace tlmssd {

class MemoryArchive final : public Archive {
 public:
  /// Saves, until it is rewound.
  MemoryArchive() = default;
  /// Gives back `content`.
  explicit MemoryArchive(std::vector<std::uint8_t> content) : saving_(false), content_(std::move(content)) {}
  [[nodiscard]] bool saving() const override { return saving_; }
  void bytes(void* data, std::size_t size) override {
    if (size == 0) return;
    if (saving_) {
      const auto* const begin = static_cast<const std::uint8_t*>(data);
      content_.insert(content_.end(), begin, begin + size);
      return;
    }
    if (content_.size() - at_ < size) throw ArchiveError("reads more than was saved");
    std::memcpy(data, content_.data() + at_, size);
    at_ += size;
  }
  /// From now on it gives back what was saved.
  void rewind() {
    saving_ = false;
    at_ = 0;
  }
  [[nodiscard]] bool at_end() const { return at_ == content_.size(); }
  [[nodiscard]] const std::vector<std::uint8_t>& content() const { return content_; }

 private:
  bool saving_ = true;
  std::vector<std::uint8_t> content_;
  std::size_t at_ = 0;
};

}  // namespace tlmssd
