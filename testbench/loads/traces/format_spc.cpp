// SPC (Storage Performance Council, as in the UMass repository): ASU, LBA in 512 B blocks, size in
// bytes, operation, seconds.
//
// Each application storage unit is a volume. Further fields, which the format allows, are not used.
// Source: SPC I/O trace format specification, revision 1.0.1.
#include "testbench/loads/traces/trace_format.h"

namespace tlmssd {

namespace {

constexpr FieldSpec k_spc_unit{"ASU", "a storage unit number"};
constexpr FieldSpec k_spc_address{"LBA", "512 B blocks"};
constexpr FieldSpec k_spc_size{"size", "bytes"};
constexpr FieldSpec k_spc_op{"op", "R or W"};
constexpr FieldSpec k_spc_time{"time", "seconds"};

class SpcFormat final : public TraceFormat {
 public:
  bool parse(std::string_view line, const LineReader& at, TraceRecord& record) override {
    Fields fields(line, ',');
    record.device = fields.need(at, k_spc_unit);
    whole_number(at, k_spc_unit, record.device);
    record.offset = scaled_number(at, k_spc_address, fields.need(at, k_spc_address), 512);
    record.bytes = whole_number(at, k_spc_size, fields.need(at, k_spc_size));
    const std::string_view op = fields.need(at, k_spc_op);
    if (op == "R" || op == "r") {
      record.opcode = HostOpcode::read;
    } else if (op == "W" || op == "w") {
      record.opcode = HostOpcode::write;
    } else {
      bad_field(at, k_spc_op, op, "is no operation");
    }
    record.time = time_stamp(at, k_spc_time, fields.need(at, k_spc_time), 1'000'000'000'000);
    return true;
  }
};

}  // namespace

std::unique_ptr<TraceFormat> make_spc_format() {
  return std::make_unique<SpcFormat>();
}

}  // namespace tlmssd
