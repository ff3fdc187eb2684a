// TLM-2.0 sockets that know which of several they are, and the payloads of this drive.
//
// A module with many like sockets (channels, dies) gets one object per socket that forwards the
// call with its index, without the process bookkeeping of tlm_utils' convenience sockets, which
// costs several nanoseconds per call.
#pragma once

#include <systemc>
#include <tlm>

#include <cstdint>
#include <memory>
#include <typeinfo>
#include <vector>

#include "models/base/flash_transaction.h"
#include "models/base/host_command.h"
#include "models/base/prefetch.h"
#include "models/base/slab.h"
#include "models/tlm/direct_access.h"

namespace tlmssd {

/// What all initiator sockets have in common: number `index` of `Owner`; no direct memory pointers.
template <class Owner>
class InitiatorSide : public tlm::tlm_initiator_socket<>, protected tlm::tlm_bw_transport_if<> {
 public:
  using tlm::tlm_initiator_socket<>::bind;

 protected:
  [[gnu::noinline]] InitiatorSide(const char* name, Owner& owner, unsigned index)
      : tlm::tlm_initiator_socket<>(name), owner_(owner), index_(index) {
    bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }
  Owner& owner_;
  unsigned index_;

 public:
  using Peer = tlm::tlm_fw_nonblocking_transport_if<>;
  /// What is bound, once elaboration is over: operator-> without its check at every call, and
  /// without the way from the transport interface to the virtual base that is called.
  Peer& peer() {
    if (peer_ == nullptr) peer_ = this->operator->();
    return *peer_;
  }
  /// Has the processor fetch what a call from either side touches of the socket.
  void prefetch() const {
    prefetch_line(&index_);
    prefetch_line(static_cast<const tlm::tlm_bw_transport_if<>*>(this));
  }
  /// Accesses without payloads, where what is bound grants them; null: it does not. Once
  /// elaboration is over; asked for once.
  DirectAccess* direct() {
    if (!asked_) {
      asked_ = true;
      direct_ = ask_for_direct_access(*this->operator->());
    }
    return direct_;
  }

 private:
  void invalidate_direct_mem_ptr(sc_dt::uint64 /*first*/, sc_dt::uint64 /*last*/) override {}
  Peer* peer_ = nullptr;
  bool asked_ = false;
  DirectAccess* direct_ = nullptr;
};

/// Initiator socket number `index` of `Owner`, which has
///   tlm::tlm_sync_enum backward(unsigned index, tlm::tlm_generic_payload&, tlm::tlm_phase&,
///   sc_core::sc_time&).
template <class Owner>
class InitiatorSocket : public InitiatorSide<Owner> {
 public:
  InitiatorSocket(const char* name, Owner& owner, unsigned index = 0)
      : InitiatorSide<Owner>(name, owner, index) {}

 private:
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return this->owner_.backward(this->index_, payload, phase, delay);
  }
};

/// What all target sockets have in common: number `index` of `Owner`, which has void
///   blocking(unsigned index, tlm::tlm_generic_payload&, sc_core::sc_time&) and unsigned
///   debug(unsigned index, tlm::tlm_generic_payload&), and may have DirectAccess* direct(unsigned
///   index): who serves accesses without payloads, or null; no direct memory pointers.
template <class Owner>
class TargetSide : public tlm::tlm_target_socket<>, protected tlm::tlm_fw_transport_if<> {
 public:
  using tlm::tlm_target_socket<>::bind;

 protected:
  [[gnu::noinline]] TargetSide(const char* name, Owner& owner, unsigned index)
      : tlm::tlm_target_socket<>(name), owner_(owner), index_(index) {
    bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  }
  Owner& owner_;
  unsigned index_;

 public:
  using Peer = tlm::tlm_bw_nonblocking_transport_if<>;
  /// See InitiatorSide.
  Peer& peer() {
    if (peer_ == nullptr) peer_ = this->operator->();
    return *peer_;
  }
  /// See InitiatorSide.
  void prefetch() const {
    prefetch_line(&index_);
    prefetch_line(static_cast<const tlm::tlm_fw_transport_if<>*>(this));
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    owner_.blocking(index_, payload, delay);
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
    if constexpr (requires { owner_.direct(index_); }) grant_direct_access(payload, owner_.direct(index_));
    dmi.allow_none();
    return false;
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override { return owner_.debug(index_, payload); }
  Peer* peer_ = nullptr;
};

/// Target socket number `index` of `Owner`, which has tlm::tlm_sync_enum forward(unsigned index,
///   tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&), and what TargetSide asks.
template <class Owner>
class TargetSocket : public TargetSide<Owner> {
 public:
  TargetSocket(const char* name, Owner& owner, unsigned index = 0) : TargetSide<Owner>(name, owner, index) {}

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return this->owner_.forward(this->index_, payload, phase, delay);
  }
};

class FlashChannel;
class FlashController;
struct BusyBefore;

/// What a flash payload means beyond a memory access. Ignorable: without it a die answers as a
/// plain memory would, with an error response, because raw addresses are not how NAND is driven.
/// It also holds what controller and channel note about an operation on its way.
struct FlashExtension : tlm::tlm_extension<FlashExtension> {
  FlashOp* op = nullptr;

  // The drive's, from BEGIN_REQ to END_RESP.
  tlm::tlm_generic_payload* payload = nullptr;
  FlashExtension* next = nullptr;  // in the queue it is in

  // The channel's.
  FlashChannel* channel = nullptr;
  BusyBefore* busy_before = nullptr;  // of the die, when the wait for it began; null: it does not wait
  Picoseconds arrived = 0;            // at the channel, or at its present step
  union {
    Picoseconds suspendable = 0;  // next suspend not before this instant
    Picoseconds flash_end;        // the controller's, once flash is done: when channel and decoder are
  };
  std::uint16_t pages_done = 0;  // program: pages (in each plane) of the steps that are through
  std::uint16_t pages_now = 0;   // of the step under way
  std::uint16_t suspends = 0;    // of the step under way
  DieQueue queue = DieQueue::normal;
  bool unsuspendable : 1 = false;      // it: the die has said that it is too late
  std::uint8_t not_suspended : 3 = 0;  // it, because of these limits: a bit for each

  // The controller's.
  bool memory_open : 1 = false;  // memory has not answered yet
  bool data_wanted : 1 = false;  // the channel waits for the data of a program
  bool flash_done : 1 = false;
  FlashController* controller = nullptr;
  Picoseconds data_ready = 0;  // memory and decoder are done

  tlm::tlm_extension_base* clone() const override {
    auto* const copy = new FlashExtension;
    copy->op = op;
    return copy;
  }
  void copy_from(const tlm::tlm_extension_base& other) override {
    op = static_cast<const FlashExtension&>(other).op;
  }
};

class HostInterface;
class ControllerCpu;

/// What the drive notes about a host command on its way, from BEGIN_REQ to END_RESP, so that
/// nothing is looked up or allocated for it.
struct HostEntry {
  tlm::tlm_generic_payload* payload = nullptr;
  HostEntry* next = nullptr;  // in the queue it is in; before and after, the host's own
  union {                     // the module that has it
    HostInterface* host = nullptr;
    ControllerCpu* cpu;
  };
  union {
    Picoseconds arrived = 0;  // in its submission queue
    Picoseconds link_end;     // once fetched: when the link part of the present step is over
  };
  Picoseconds completion = 0;  // from the end of data to the completion's arrival
  std::uint32_t index = 0;     // of those in the queues or under way
  bool plain = false;          // made by the host interface for a payload that came without
  bool untimed = false;        // in the mailbox, and not complete
};

/// What a host payload means beyond a memory access: the command, with opcode, queue, status and
/// ledger. Ignorable: without it a payload is a plain read or write on queue 0.
struct HostExtension : HostEntry, HostCommand, tlm::tlm_extension<HostExtension> {
  tlm::tlm_extension_base* clone() const override {
    auto* const copy = new HostExtension;
    copy->copy_from(*this);
    return copy;
  }
  void copy_from(const tlm::tlm_extension_base& other) override {
    const HostCommand& command = static_cast<const HostExtension&>(other);
    static_cast<HostCommand&>(*this) = command;
  }
};

/// A generic payload that is used again and again.
struct ReusablePayload : tlm::tlm_generic_payload {
  using tlm::tlm_generic_payload::tlm_generic_payload;
  /// All that a transaction of `length` bytes at `data` needs.
  void fill(tlm::tlm_command command, std::uint64_t address, void* data, Bytes length) {
    set_command(command);
    set_address(address);
    set_data_ptr(static_cast<unsigned char*>(data));
    set_data_length(static_cast<unsigned>(length));
    set_streaming_width(static_cast<unsigned>(length));
    set_byte_enable_ptr(nullptr);
    set_dmi_allowed(false);
  }
};

/// The same with an extension that stays attached.
template <class Extension>
struct ExtendedPayload : ReusablePayload {
  explicit ExtendedPayload(tlm::tlm_mm_interface* manager) : ReusablePayload(manager) {
    set_extension(&extension);
  }
  ~ExtendedPayload() override { clear_extension(&extension); }
  Extension extension;
};

/// The same, of a PayloadPool.
template <class Extension>
struct PooledPayload : ExtendedPayload<Extension> {
  using ExtendedPayload<Extension>::ExtendedPayload;
  PooledPayload* next = nullptr;
};

/// A host command and all that it needs from the host to firmware and back, in one object. What
/// every step touches comes first.
struct HostTransaction : HostExtension, ReusablePayload {
  explicit HostTransaction(tlm::tlm_mm_interface* pool = nullptr) : ReusablePayload(pool) {
    set_extension<HostExtension>(this);
  }
  HostTransaction(const HostTransaction&) = delete;
  HostTransaction& operator=(const HostTransaction&) = delete;
  ~HostTransaction() override { clear_extension<HostExtension>(this); }

  /// Has the processor fetch the transaction that this is the ledger of, and what the host keeps
  /// behind it.
  static void prefetch_around(const Ledger& ledger) {
    prefetch_lines<k_with_hosts>(reinterpret_cast<const char*>(&ledger) - k_before_ledger);
  }
  static constexpr std::size_t k_before_ledger = 96;  ///< bytes
  static constexpr std::size_t k_with_hosts = 512;
};

/// Manages payloads that lie in what another owns, who looks after their references.
class OwnersPayloads : public tlm::tlm_mm_interface {
 public:
  void free(tlm::tlm_generic_payload* /*payload*/) override {}
};

/// The payload that a flash transaction is carried by, in the transaction's own room.
using FlashPayload = ExtendedPayload<FlashExtension>;
static_assert(sizeof(FlashPayload) <= FlashTransaction::k_room);

/// What a payload means to flash; null when it is no flash operation. The drive's own payloads have
/// it in themselves, where it is found without a look at the table of extensions.
inline FlashExtension* flash_extension_of(const tlm::tlm_generic_payload& payload) {
  if (&typeid(payload) == &typeid(FlashPayload))
    return &const_cast<FlashPayload&>(static_cast<const FlashPayload&>(payload)).extension;
  return payload.get_extension<FlashExtension>();
}
/// The operation that a payload stands for; null when it is no flash operation.
inline FlashOp* op_of(const tlm::tlm_generic_payload& payload) {
  const auto* extension = flash_extension_of(payload);
  return extension == nullptr ? nullptr : extension->op;
}
/// The same with what is noted about it.
inline FlashExtension* job_of(tlm::tlm_generic_payload& payload) {
  auto* const job = flash_extension_of(payload);
  if (job == nullptr || job->op == nullptr) return nullptr;
  job->payload = &payload;
  return job;
}

/// Payloads that return here with their last reference. `Item`: a PooledPayload or HostTransaction,
/// perhaps with what its user keeps beside it.
template <class Extension, class Item = PooledPayload<Extension>>
class PayloadPool : public tlm::tlm_mm_interface {
 public:
  using Payload = Item;
  /// A payload with one reference held for the caller.
  Payload& take() {
    Payload& payload = payloads_.take([this] { return std::make_unique<Payload>(this); });
    payload.acquire();
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return payload;
  }
  /// The same, filled.
  Payload& take(tlm::tlm_command command, std::uint64_t address, void* data, Bytes length) {
    Payload& payload = take();
    payload.fill(command, address, data, length);
    return payload;
  }
  void free(tlm::tlm_generic_payload* payload) override { payloads_.give(*static_cast<Payload*>(payload)); }
  /// Every payload that was ever made, in that order, free or not.
  [[nodiscard]] const std::vector<std::unique_ptr<Payload>>& all() const { return payloads_.all(); }

 private:
  Pool<Payload> payloads_;
};

}  // namespace tlmssd
