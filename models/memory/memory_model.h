// Memories of one's own in the place of the drive's DRAM or SCM: what a plug-in, or a program that
// embeds the drive, says of a TLM-2.0 memory from elsewhere.
//
//   class AcmeMemory final : public tlmssd::MemoryModel {
//    public:
//     static constexpr std::string_view k_name = "acme", k_summary = "...";
//     struct Config {...};                                           // keys beside ssd.dram.model
//     AcmeMemory(const Config& config, const tlmssd::MemoryContext& context)
//         : memory_("memory", ...) {}
//     tlmssd::MemorySocket socket() override { return memory_.socket; }
//    private:
//     acme::Memory memory_;                                          // any sc_module
//   };
//
// The module knows nothing of this drive. It has a target socket of any width, answers b_transport
// or nb_transport, and may wait, keep a clock of its own and run processes that never end.
// ForeignMemory (foreign_memory.h) stands between it and the system bus.
#pragma once

#include <systemc>
#include <tlm>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "models/base/archive.h"
#include "models/base/chosen_policy.h"
#include "models/base/statistics.h"
#include "models/base/types.h"

namespace tlmssd {

/// A memory's target socket, whatever its width.
class MemorySocket {
  using Forward = tlm::tlm_fw_transport_if<>;
  using Backward = tlm::tlm_bw_transport_if<>;

 public:
  template <unsigned Width>
  // NOLINTNEXTLINE(google-explicit-constructor): a socket is what socket() returns
  MemorySocket(tlm::tlm_base_target_socket_b<Width, Forward, Backward>& socket)
      : forward_(socket.get_base_interface()), backward_(socket.get_base_port()) {}
  template <class Initiator>
  void bind_to(Initiator& initiator) const {
    initiator.get_base_port()(forward_);
    backward_(initiator.get_base_interface());
  }
  [[nodiscard]] const char* name() const { return backward_.name(); }

 private:
  Forward& forward_;
  sc_core::sc_port_b<Backward>& backward_;
};

/// How the drive has to treat a memory.
struct MemoryTraits {
  /// It answers b_transport only, and may wait in it (loosely timed). Otherwise: nb_transport, with
  /// any of its four phases, early or late.
  bool blocking = true;
  std::uint64_t base = 0;  ///< address of its first byte in its own address map
  Bytes capacity = 0;      ///< what it holds; 0: as much as it was asked for
  /// Longest transaction, a power of two: accesses are cut at multiples of it. 0: any length.
  Bytes burst = 0;
  /// Transactions that it may have at once. 0: one if blocking (what it does not queue itself would
  /// overlap at no cost), any number otherwise.
  std::uint32_t at_once = 0;
  bool keeps_bytes = true;  ///< what is written is read again (the drive does not ask for that)
};

/// Where the memory is to serve.
struct MemoryContext {
  std::string_view place;  ///< "dram" or "scm"
  Bytes capacity = 0;      ///< the section's `capacity`
  std::uint64_t seed = 0;
};

class MemoryModel {
 public:
  virtual ~MemoryModel() = default;
  [[nodiscard]] virtual MemorySocket socket() = 0;
  [[nodiscard]] virtual MemoryTraits traits() const { return {}; }
  /// Statistics of its own: the group "own" beside what the drive counts.
  virtual void report(StatisticsSink& /*sink*/) const {}
  virtual void reset_statistics() {}
  /// Whether archive() saves and restores all that lasts beyond an idle moment; without it a run
  /// that is to save or load a snapshot is refused.
  [[nodiscard]] virtual bool archives() const { return false; }
  virtual void archive(Archive& /*archive*/) {}
};

using MakeMemory = std::function<std::unique_ptr<MemoryModel>(const MemoryContext&)>;

/// The drive's own memories go by this name in every place.
inline constexpr std::string_view k_own_memory = "built-in";

class MemoryFamily final : public PolicyFamily<MemoryModel, const MemoryContext&> {
 public:
  /// The drive's own name is taken, too.
  [[nodiscard]] const PolicyInfo* find(std::string_view name) const {
    static const PolicyInfo own{std::string(k_own_memory), "", {}};
    return name == k_own_memory ? &own : PolicyFamily::find(name);
  }
  /// With the drive's own, which is `summary` and has `parameters`.
  [[nodiscard]] std::vector<PolicyInfo> beside(std::string summary,
                                               std::vector<ParameterSpec> parameters) const {
    std::vector<PolicyInfo> all = infos();
    all.insert(all.begin(), {std::string(k_own_memory), std::move(summary), std::move(parameters)});
    return all;
  }
};

/// Memories from outside, for ssd.dram.model and ssd.scm.model; the program has none of its own
/// here.
MemoryFamily& memory_models();

/// Which memory stands in a place.
struct MemoryChoice {
  std::string model{k_own_memory};
  PolicyValues values;
  /// A memory of one's own (for a program that embeds the drive), instead of the one that `model`
  /// names.
  MakeMemory make;
  [[nodiscard]] bool foreign() const { return make != nullptr || model != k_own_memory; }
  /// Null: there is no such model.
  [[nodiscard]] std::unique_ptr<MemoryModel> made(const MemoryContext& context) const;
};

}  // namespace tlmssd
