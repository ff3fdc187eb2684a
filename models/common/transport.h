// TLM-2.0 sockets that know which of several they are, and the payloads of this drive.
//
// A module with many like sockets (channels, dies) gets one object per socket that forwards the call with its
// index, without the process bookkeeping of tlm_utils' convenience sockets, which costs several nanoseconds
// per call.
#pragma once

#include <systemc>
#include <tlm>

#include <memory>
#include <vector>

#include "models/common/flash_op.h"
#include "models/common/host_command.h"

namespace tlmssd {

/// Initiator socket number `index` of `Owner`, which has
///   tlm::tlm_sync_enum backward(unsigned index, tlm::tlm_generic_payload&, tlm::tlm_phase&,
///   sc_core::sc_time&).
template <class Owner>
class InitiatorSocket : public tlm::tlm_initiator_socket<>, private tlm::tlm_bw_transport_if<> {
 public:
  [[gnu::noinline]] InitiatorSocket(const char* name, Owner& owner, unsigned index = 0)
      : tlm::tlm_initiator_socket<>(name), owner_(owner), index_(index) {
    bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }
  using tlm::tlm_initiator_socket<>::bind;

 private:
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return owner_.backward(index_, payload, phase, delay);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 /*first*/, sc_dt::uint64 /*last*/) override {}
  Owner& owner_;
  unsigned index_;
};

/// Target socket number `index` of `Owner`, which has
///   tlm::tlm_sync_enum forward(unsigned index, tlm::tlm_generic_payload&, tlm::tlm_phase&,
///   sc_core::sc_time&), void blocking(unsigned index, tlm::tlm_generic_payload&, sc_core::sc_time&) and
///   unsigned debug(unsigned index, tlm::tlm_generic_payload&).
template <class Owner>
class TargetSocket : public tlm::tlm_target_socket<>, private tlm::tlm_fw_transport_if<> {
 public:
  [[gnu::noinline]] TargetSocket(const char* name, Owner& owner, unsigned index = 0)
      : tlm::tlm_target_socket<>(name), owner_(owner), index_(index) {
    bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  }
  using tlm::tlm_target_socket<>::bind;

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return owner_.forward(index_, payload, phase, delay);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    owner_.blocking(index_, payload, delay);
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& dmi) override {
    dmi.allow_none();
    return false;
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override { return owner_.debug(index_, payload); }
  Owner& owner_;
  unsigned index_;
};

/// What a flash payload means beyond a memory access. Ignorable: without it a die answers as a plain memory
/// would, with an error response, because raw addresses are not how NAND is driven.
struct FlashExtension : tlm::tlm_extension<FlashExtension> {
  FlashOp* op = nullptr;
  tlm::tlm_extension_base* clone() const override { return new FlashExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const FlashExtension&>(other);
  }
};

/// The operation that a payload stands for; null when it is no flash operation.
inline FlashOp* op_of(const tlm::tlm_generic_payload& payload) {
  const auto* extension = payload.get_extension<FlashExtension>();
  return extension == nullptr ? nullptr : extension->op;
}

/// What a host payload means beyond a memory access: opcode, queue, ranges, status, ledger. Ignorable:
/// without it a payload is a plain read or write on queue 0.
struct HostExtension : tlm::tlm_extension<HostExtension> {
  HostCommand* command = nullptr;
  tlm::tlm_extension_base* clone() const override { return new HostExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const HostExtension&>(other);
  }
};

/// Generic payloads that keep their extension attached and return here when their last user lets go.
template <class Extension>
class PayloadPool : public tlm::tlm_mm_interface {
 public:
  struct Payload : tlm::tlm_generic_payload {
    explicit Payload(tlm::tlm_mm_interface* pool) : tlm::tlm_generic_payload(pool) {
      set_extension(&extension);
    }
    ~Payload() override { clear_extension(&extension); }
    Extension extension;
    Payload* next = nullptr;
  };
  /// A payload with one reference held for the caller.
  Payload& take() {
    if (free_ == nullptr) {
      all_.push_back(std::make_unique<Payload>(this));
      all_.back()->next = nullptr;
      free_ = all_.back().get();
    }
    Payload& payload = *free_;
    free_ = payload.next;
    payload.acquire();
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return payload;
  }
  void free(tlm::tlm_generic_payload* payload) override {
    auto* pooled = static_cast<Payload*>(payload);
    pooled->next = free_;
    free_ = pooled;
  }

 private:
  std::vector<std::unique_ptr<Payload>> all_;
  Payload* free_ = nullptr;
};

}  // namespace tlmssd
