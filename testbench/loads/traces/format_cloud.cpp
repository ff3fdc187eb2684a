// Block traces of two cloud providers.
//
// Alibaba: device, R or W, offset in bytes, length in bytes, time in us (Li et al., IISWC 2020).
// Tencent: time in s, offset in 512 B sectors, size in sectors, operation (0 = read, 1 = write),
// volume (Zhang et al., ATC 2020).
#include "testbench/loads/traces/trace_format.h"

namespace tlmssd {

namespace {

constexpr FieldSpec k_ali_device{"device", "a device number"};
constexpr FieldSpec k_ali_op{"opcode", "R or W"};
constexpr FieldSpec k_ali_offset{"offset", "bytes"};
constexpr FieldSpec k_ali_size{"length", "bytes"};
constexpr FieldSpec k_ali_time{"timestamp", "us"};

class AlibabaFormat final : public TraceFormat {
 public:
  bool parse(std::string_view line, const LineReader& at, TraceRecord& record) override {
    Fields fields(line, ',');
    record.device = fields.need(at, k_ali_device);
    whole_number(at, k_ali_device, record.device);
    const std::string_view op = fields.need(at, k_ali_op);
    if (op != "R" && op != "W") bad_field(at, k_ali_op, op, "is no operation");
    record.opcode = op == "R" ? HostOpcode::read : HostOpcode::write;
    record.offset = whole_number(at, k_ali_offset, fields.need(at, k_ali_offset));
    record.bytes = whole_number(at, k_ali_size, fields.need(at, k_ali_size));
    record.time = time_stamp(at, k_ali_time, fields.need(at, k_ali_time), 1'000'000);
    if (!fields.ended())
      at.fail("line has more than 5 fields, expected device,opcode,offset,length,timestamp");
    return true;
  }
};

constexpr FieldSpec k_ten_time{"timestamp", "seconds"};
constexpr FieldSpec k_ten_offset{"offset", "512 B sectors"};
constexpr FieldSpec k_ten_size{"size", "512 B sectors"};
constexpr FieldSpec k_ten_op{"IO type", "0 (read) or 1 (write)"};
constexpr FieldSpec k_ten_volume{"volume", "a volume number"};

class TencentFormat final : public TraceFormat {
 public:
  bool parse(std::string_view line, const LineReader& at, TraceRecord& record) override {
    Fields fields(line, ',');
    record.time = time_stamp(at, k_ten_time, fields.need(at, k_ten_time), 1'000'000'000'000);
    record.offset = scaled_number(at, k_ten_offset, fields.need(at, k_ten_offset), 512);
    record.bytes = scaled_number(at, k_ten_size, fields.need(at, k_ten_size), 512);
    const std::string_view op = fields.need(at, k_ten_op);
    if (op != "0" && op != "1") bad_field(at, k_ten_op, op, "is no operation");
    record.opcode = op == "0" ? HostOpcode::read : HostOpcode::write;
    record.device = fields.need(at, k_ten_volume);
    whole_number(at, k_ten_volume, record.device);
    if (!fields.ended())
      at.fail("line has more than 5 fields, expected timestamp,offset,size,IO type,volume");
    return true;
  }
};

}  // namespace

std::unique_ptr<TraceFormat> make_alibaba_format() {
  return std::make_unique<AlibabaFormat>();
}
std::unique_ptr<TraceFormat> make_tencent_format() {
  return std::make_unique<TencentFormat>();
}

}  // namespace tlmssd
