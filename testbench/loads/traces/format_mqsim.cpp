// MQSim and SSDsim ASCII: time in ns, device, start in 512 B sectors, length in sectors, operation;
// blanks between.
//
// Operation 1 is a read and 0 a write, the opposite of what most people expect. Source: MQSim's and
// SSDsim's trace parsers.
#include "testbench/loads/traces/trace_format.h"

namespace tlmssd {

namespace {

constexpr std::uint64_t k_mqsim_sector = 512;
constexpr FieldSpec k_mqsim_time{"time", "ns"};
constexpr FieldSpec k_mqsim_device{"device", "a device number"};
constexpr FieldSpec k_mqsim_address{"LBA", "512 B sectors"};
constexpr FieldSpec k_mqsim_size{"sectors", "512 B sectors"};
constexpr FieldSpec k_mqsim_op{"op", "1 (read) or 0 (write)"};

class MqsimFormat final : public TraceFormat {
 public:
  bool parse(std::string_view line, const LineReader& at, TraceRecord& record) override {
    Fields fields(line, ' ');
    record.time = time_stamp(at, k_mqsim_time, fields.need(at, k_mqsim_time), 1000);
    record.device = fields.need(at, k_mqsim_device);
    whole_number(at, k_mqsim_device, record.device);
    record.offset = scaled_number(at, k_mqsim_address, fields.need(at, k_mqsim_address), k_mqsim_sector);
    record.bytes = scaled_number(at, k_mqsim_size, fields.need(at, k_mqsim_size), k_mqsim_sector);
    const std::string_view op = fields.need(at, k_mqsim_op);
    if (op != "0" && op != "1") bad_field(at, k_mqsim_op, op, "is no operation");
    record.opcode = op == "1" ? HostOpcode::read : HostOpcode::write;
    if (!fields.ended()) at.fail("line has more than 5 fields, expected time device LBA sectors op");
    return true;
  }
};

}  // namespace

std::unique_ptr<TraceFormat> make_mqsim_format() {
  return std::make_unique<MqsimFormat>();
}

}  // namespace tlmssd
