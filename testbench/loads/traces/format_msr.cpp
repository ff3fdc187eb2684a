// MSR Cambridge CSV: time, host, disk, operation, offset in bytes, size in bytes, response time.
//
// Times are ticks of 100 ns, either Windows file time (the files as SNIA distributes them) or from
// 0; both are read alike, because times count from the first request. Operations are Read and
// Write, and Discard where a recording has them. The response time is not used. Source: Narayanan,
// Donnelly, Rowstron, "Write off-loading", FAST 2008, README of the traces.
#include "testbench/loads/traces/trace_format.h"

namespace tlmssd {

namespace {

constexpr Picoseconds k_msr_tick = 100'000;
constexpr FieldSpec k_msr_time{"time", "ticks of 100 ns"};
constexpr FieldSpec k_msr_host{"host", "a name"};
constexpr FieldSpec k_msr_disk{"disk", "a disk number"};
constexpr FieldSpec k_msr_type{"type", "Read, Write or Discard"};
constexpr FieldSpec k_msr_offset{"offset", "bytes from the start of the disk"};
constexpr FieldSpec k_msr_size{"size", "bytes"};
constexpr FieldSpec k_msr_response{"response", "ticks of 100 ns"};

class MsrFormat final : public TraceFormat {
 public:
  bool parse(std::string_view line, const LineReader& at, TraceRecord& record) override {
    Fields fields(line, ',');
    const std::string_view time = fields.need(at, k_msr_time);
    const std::uint64_t ticks = whole_number(at, k_msr_time, time);
    const std::string_view host = fields.need(at, k_msr_host);
    const std::string_view disk = fields.need(at, k_msr_disk);
    if (host.size() + disk.size() > 200) bad_field(at, k_msr_host, host, "is too long");
    record.device = {host.data(), static_cast<std::size_t>(disk.data() + disk.size() - host.data())};
    record.opcode = opcode(at, fields.need(at, k_msr_type));
    record.offset = whole_number(at, k_msr_offset, fields.need(at, k_msr_offset));
    record.bytes = whole_number(at, k_msr_size, fields.need(at, k_msr_size));
    std::string_view field;
    if (fields.next(field) && !field.empty()) whole_number(at, k_msr_response, field);
    if (!fields.ended())
      at.fail("line has more than 7 fields, expected time,host,disk,type,offset,size,response");
    record.time = static_cast<WideTime>(ticks) * k_msr_tick;
    if (first_) file_time_ = ticks > 100'000'000'000'000'000U;
    first_ = false;
    return true;
  }
  [[nodiscard]] std::string note() const override {
    return file_time_ ? "times are Windows file time" : "times are ticks of 100 ns";
  }

 private:
  static HostOpcode opcode(const LineReader& at, std::string_view text) {
    if (text == "Write" || text == "write" || text == "WRITE") return HostOpcode::write;
    if (text == "Read" || text == "read" || text == "READ") return HostOpcode::read;
    if (text == "Discard" || text == "discard" || text == "DISCARD" || text == "Trim")
      return HostOpcode::trim;
    bad_field(at, k_msr_type, text, "is no operation");
  }
  bool first_ = true;
  bool file_time_ = false;
};

}  // namespace

std::unique_ptr<TraceFormat> make_msr_format() {
  return std::make_unique<MsrFormat>();
}

}  // namespace tlmssd
