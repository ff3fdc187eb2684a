// An array over a huge index range that costs memory only where it has been written: leaves of 64
// elements from an arena.
//
// A read of an element whose leaf was never made gives what `Rule` says of it, T{} unless another
// rule is chosen; write() makes the leaf. So a table that follows a rule costs memory only where it
// has departed from it. Two loads per access; the root is 4 bytes per 64 elements and lies in
// anonymous zero pages that the operating system provides when first touched.
#pragma once

#include <cstring>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <utility>
#include <vector>

#include "models/base/archive.h"
#include "models/base/prefetch.h"

namespace tlmssd {

/// A fixed-size array of zero-initialised trivially copyable elements whose pages appear when first
/// touched. Dense: it will be touched all over, so huge pages (2 MiB at a time) are welcome.
template <class T, bool k_dense = false>
class ZeroPages {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit ZeroPages(std::size_t size = 0) : size_(size) {
    if (size == 0) return;
    // Enough to start at a huge page: random accesses over a large array are bound by address
    // translation.
    const std::size_t slack = bytes() >= k_huge_page ? k_huge_page : 0;
    reserved_ = bytes() + slack;
    base_ =
        mmap(nullptr, reserved_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base_ == MAP_FAILED) throw std::bad_alloc();
    auto* start = static_cast<std::byte*>(base_);
    if (slack != 0) {
      start += (0 - reinterpret_cast<std::uintptr_t>(start)) % k_huge_page;
      if constexpr (k_dense) madvise(start, bytes() / k_huge_page * k_huge_page, MADV_HUGEPAGE);
    }
    data_ = reinterpret_cast<T*>(start);
  }
  ~ZeroPages() {
    if (data_ != nullptr) munmap(base_, reserved_);
  }
  ZeroPages(ZeroPages&& other) noexcept
      : base_(other.base_), reserved_(other.reserved_), data_(other.data_), size_(other.size_) {
    other.data_ = nullptr;
    other.size_ = 0;
  }
  ZeroPages& operator=(ZeroPages&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(reserved_, other.reserved_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ZeroPages(const ZeroPages&) = delete;
  ZeroPages& operator=(const ZeroPages&) = delete;

  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t k_huge_page = std::size_t{2} << 20U;
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }
  void* base_ = nullptr;
  std::size_t reserved_ = 0;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Elements that were never written are T{}.
template <class T>
struct AllZero {
  static constexpr bool k_fixed = true;
  [[nodiscard]] T operator()(std::size_t /*i*/) const { return T{}; }
};

/// `Rule`: what elements are that were never written. k_fixed: it says T{} of all. Otherwise it
/// says T{} of those from `upto()` on, `write(i, elements, n)` lays out n of them from number i on,
/// and archive() keeps what it goes by.
template <class T, class Rule = AllZero<T>>
class SparseArray {
 public:
  static constexpr std::size_t k_leaf = 64;

  explicit SparseArray(std::size_t size = 0, Rule rule = {})
      : root_((size + k_leaf - 1) / k_leaf), size_(size), rule_(std::move(rule)) {}

  [[nodiscard]] T read(std::size_t i) const {
    const std::uint32_t leaf = root_[i / k_leaf];
    return leaf == 0 ? rule_(i) : slot(leaf, i % k_leaf);
  }
  /// The element, for writing; creates its leaf.
  T& write(std::size_t i) {
    std::uint32_t& leaf = root_[i / k_leaf];
    if (leaf == 0) leaf = grow(i / k_leaf * k_leaf);
    return slot(leaf, i % k_leaf);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Rule& rule() { return rule_; }
  [[nodiscard]] const Rule& rule() const { return rule_; }
  /// Whether element `i` may be other than T{}: its leaf of k_leaf elements has been made, or the
  /// rule says so.
  [[nodiscard]] bool touched(std::size_t i) const {
    if constexpr (!Rule::k_fixed) {
      if (i < rule_.upto()) return true;
    }
    return root_[i / k_leaf] != 0;
  }
  /// The first element from `i` on that is touched; `end` when there is none before it.
  [[nodiscard]] std::size_t next_touched(std::size_t i, std::size_t end) const {
    while (i < end && !touched(i)) i = (i / k_leaf + 1) * k_leaf;
    return i < end ? i : end;
  }
  /// Has the processor fetch what prefetch() has to look at, and would wait for.
  void announce(std::size_t i) const { prefetch_line(&root_[i / k_leaf]); }
  /// Has the processor fetch the element's cache line, if its leaf exists.
  void prefetch(std::size_t i) const {
    const std::uint32_t leaf = root_[i / k_leaf];
    if (leaf != 0) prefetch_line(&slot(leaf, i % k_leaf));
  }
  /// Bytes of memory that hold touched elements.
  [[nodiscard]] std::size_t touched_bytes() const { return leaves_ * k_leaf * sizeof(T); }

  void archive(Archive& a) {
    if constexpr (!Rule::k_fixed) {
      a(rule_);
      if (rule_.upto() > size_) throw ArchiveError("snapshot is damaged: a rule beyond the array");
    }
    std::uint64_t count = leaves_;
    a(count);
    if (a.saving()) {
      for (std::uint64_t i = 0; i < root_.size(); ++i) {
        if (root_[i] == 0) continue;
        a(i);
        a.bytes(&slot(root_[i], 0), k_leaf * sizeof(T));
      }
      return;
    }
    *this = SparseArray(size_, std::move(rule_));
    for (std::uint64_t n = 0; n < count; ++n) {
      std::uint64_t i = 0;
      a(i);
      if (i >= root_.size()) throw ArchiveError("snapshot is damaged: index beyond the array");
      a.bytes(&write(i * k_leaf), k_leaf * sizeof(T));
    }
  }

 private:
  static constexpr std::size_t k_slab =
      (std::size_t{2} << 20U) / (k_leaf * sizeof(T));  // leaves per slab of a huge page

  T& slot(std::uint32_t leaf, std::size_t i) { return slabs_[(leaf - 1) / k_slab][(leaf - 1) % k_slab][i]; }
  const T& slot(std::uint32_t leaf, std::size_t i) const {
    return slabs_[(leaf - 1) / k_slab][(leaf - 1) % k_slab][i];
  }
  std::uint32_t grow(std::size_t first) {
    if (leaves_ % k_slab == 0) slabs_.emplace_back(k_slab);
    const auto leaf = static_cast<std::uint32_t>(++leaves_);
    if constexpr (!Rule::k_fixed) {
      if (first < rule_.upto()) {
        rule_.write(first, &slot(leaf, 0), k_leaf);
      }
    }
    return leaf;
  }

  struct Block {
    T values[k_leaf];
    T& operator[](std::size_t i) { return values[i]; }
    const T& operator[](std::size_t i) const { return values[i]; }
  };
  ZeroPages<std::uint32_t> root_;
  std::vector<ZeroPages<Block, true>> slabs_;
  std::size_t leaves_ = 0;
  std::size_t size_ = 0;
  [[no_unique_address]] Rule rule_;
};

}  // namespace tlmssd
