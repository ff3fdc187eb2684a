// A flash operation on its way, in one object: what firmware orders, and room for what the models
// carry it by.
//
// Firmware keeps it (in a pooled read or program, in a coroutine's frame) and hands out a pointer;
// controller, channel and die add to it and take what they need from it, and nothing about an
// operation is looked up, copied or allocated on the way. What the models put into the room is a
// SystemC payload with their notes (models/tlm/transport.h); here it is bytes, because firmware
// knows no SystemC.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "models/base/flash_op.h"

namespace tlmssd {

class FlashTransaction : public FlashOp {
 public:
  static constexpr std::size_t k_room = 224;

  FlashTransaction() = default;
  explicit FlashTransaction(const FlashOp& op) : FlashOp(op) {}
  FlashTransaction(const FlashTransaction&) = delete;
  FlashTransaction& operator=(const FlashTransaction&) = delete;
  /// Orders something else; not while it is under way.
  FlashTransaction& operator=(const FlashOp& op) {
    FlashOp::operator=(op);
    return *this;
  }
  ~FlashTransaction() {
    if (end_ != nullptr) end_(room_);
  }

  /// What carries it, made of `args` the first time; always of the same type.
  template <class Carrier, class... Args>
  Carrier& carrier(Args&&... args) {
    static_assert(sizeof(Carrier) <= k_room && alignof(Carrier) <= alignof(std::max_align_t));
    if (end_ == nullptr) {
      new (static_cast<void*>(room_)) Carrier(std::forward<Args>(args)...);
      end_ = [](void* room) { static_cast<Carrier*>(room)->~Carrier(); };
    }
    return *std::launder(reinterpret_cast<Carrier*>(room_));
  }

 private:
  void (*end_)(void* room) = nullptr;  // null: the room is empty
  alignas(std::max_align_t) std::byte room_[k_room];
};
static_assert(sizeof(FlashTransaction) <= 384);

}  // namespace tlmssd
