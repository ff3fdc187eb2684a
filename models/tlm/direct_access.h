// Accesses to a memory without a payload each: what a target of this drive grants beside the direct
// memory interface of TLM-2.0.
//
// IEEE 1666's get_direct_mem_ptr() gives a pointer to bytes and a fixed latency. Here bytes have no
// meaning, and what an access waits for is the point. So who asks adds a DirectExtension to its
// payload, and a target whose accesses all end at an instant that it knows when they begin may put
// itself there: access() then reserves, counts and answers exactly as BEGIN_REQ and TLM_COMPLETED
// would. Who does not know the extension leaves it empty, and payloads go as ever: a protocol
// checker, a monitor, a memory from elsewhere.
#pragma once

#include <tlm>

#include "models/base/types.h"

namespace tlmssd {

class DirectAccess {
 public:
  /// Reads or writes `bytes` at `address`, from `arrival` on, which must not lie before that of any
  /// access before it. Returns the end; k_never: there are no such bytes here (a payload's response
  /// says what is wrong).
  virtual Picoseconds access(Picoseconds arrival, std::uint64_t address, Bytes bytes, bool write) = 0;
  /// The same without time, as transport_dbg() would; false: there are no such bytes here.
  virtual bool access_untimed(std::uint64_t address, Bytes bytes, bool write) = 0;

 protected:
  DirectAccess() = default;
  ~DirectAccess() = default;
  DirectAccess(const DirectAccess&) = default;
  DirectAccess& operator=(const DirectAccess&) = default;
  DirectAccess(DirectAccess&&) = default;
  DirectAccess& operator=(DirectAccess&&) = default;
};

/// In the payload of get_direct_mem_ptr(). Ignorable.
struct DirectExtension : tlm::tlm_extension<DirectExtension> {
  DirectAccess* granted = nullptr;
  tlm::tlm_extension_base* clone() const override { return new DirectExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const DirectExtension&>(other);
  }
};

/// What the target grants; null: nothing.
DirectAccess* ask_for_direct_access(tlm::tlm_fw_transport_if<>& target);

/// The target's side: puts `granted` where it is asked for.
void grant_direct_access(tlm::tlm_generic_payload& payload, DirectAccess* granted);

}  // namespace tlmssd
