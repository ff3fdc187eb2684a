#include "models/tlm/direct_access.h"

namespace tlmssd {

DirectAccess* ask_for_direct_access(tlm::tlm_fw_transport_if<>& target) {
  DirectExtension extension;
  tlm::tlm_generic_payload payload;
  payload.set_read();
  payload.set_extension(&extension);
  tlm::tlm_dmi dmi;
  target.get_direct_mem_ptr(payload, dmi);
  payload.clear_extension(&extension);  // it is not the payload's to delete
  return extension.granted;
}

void grant_direct_access(tlm::tlm_generic_payload& payload, DirectAccess* granted) {
  if (auto* const extension = payload.get_extension<DirectExtension>(); extension != nullptr) {
    extension->granted = granted;
  }
}

}  // namespace tlmssd
