// Saving and restoring state: one function per class serves both directions.
//
//   void archive(Archive& a) { a(free_); a(valid_); }
//
// Plain values (k_plain), strings, vectors and deques of them, and classes with archive() are
// understood. The format is the host's own byte order: a snapshot belongs to the machine type it
// was made on; its header says so.
#pragma once

#include <deque>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "models/base/types.h"

namespace tlmssd {

/// Values whose bytes say all there is to say: no padding, which would carry chance into a
/// snapshot.
template <class T>
inline constexpr bool k_plain = std::is_trivially_copyable_v<T> &&
                                (std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>);

struct ArchiveError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Archive {
 public:
  virtual ~Archive() = default;
  [[nodiscard]] virtual bool saving() const = 0;
  /// Writes or reads `size` raw bytes; throws ArchiveError when the file ends early.
  virtual void bytes(void* data, std::size_t size) = 0;

  template <class T>
  void operator()(T& value) {
    if constexpr (requires { value.archive(*this); }) {
      value.archive(*this);
    } else {
      static_assert(k_plain<T>, "give the class an archive() function");
      bytes(&value, sizeof value);
    }
  }
  void operator()(std::string& value) { sequence(value); }
  template <class T>
  void operator()(std::vector<T>& values) {
    sequence(values);
  }
  template <class T>
  void operator()(std::deque<T>& values) {
    std::uint64_t size = values.size();
    (*this)(size);
    if (!saving()) values.resize(size);
    for (T& value : values) (*this)(value);
  }

 private:
  template <class Sequence>
  void sequence(Sequence& values) {
    using T = typename Sequence::value_type;
    std::uint64_t size = values.size();
    (*this)(size);
    if (!saving()) {
      if (size > k_longest) throw ArchiveError("snapshot is damaged: a sequence of impossible length");
      values.resize(size);
    }
    if (size == 0) return;
    if constexpr (k_plain<T> && !requires(T & t, Archive & a) { t.archive(a); }) {
      bytes(values.data(), size * sizeof(T));
    } else {
      for (T& value : values) (*this)(value);
    }
  }
  static constexpr std::uint64_t k_longest = std::uint64_t{1} << 36U;
};

}  // namespace tlmssd
