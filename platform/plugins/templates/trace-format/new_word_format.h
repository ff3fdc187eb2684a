// new-name: one request in a line, "microseconds operation sector sectors": 1500 rd 2048 8
#pragma once

#include "testbench/loads/traces/trace_format.h"

class NewTypeFormat final : public tlmssd::TraceFormat {
 public:
  static constexpr std::string_view k_name = "new-name";
  static constexpr std::string_view k_summary = "time (us), operation, sector (512 B), sectors (512 B)";
  static constexpr std::string_view k_polarity = "rd is a read, wr is a write";
  static constexpr char k_separator = ' ';

  bool parse(std::string_view line, const tlmssd::LineReader& at, tlmssd::TraceRecord& record) override {
    static constexpr tlmssd::FieldSpec k_time{"time", "microseconds"};
    static constexpr tlmssd::FieldSpec k_op{"op", "rd or wr"};
    static constexpr tlmssd::FieldSpec k_sector{"sector", "512 B"};
    static constexpr tlmssd::FieldSpec k_count{"sectors", "512 B"};
    tlmssd::Fields fields(line, ' ');
    record.time = tlmssd::time_stamp(at, k_time, fields.need(at, k_time), 1'000'000);
    const std::string_view op = fields.need(at, k_op);
    if (op != "rd" && op != "wr") tlmssd::bad_field(at, k_op, op, "is no operation");
    record.opcode = op == "rd" ? tlmssd::HostOpcode::read : tlmssd::HostOpcode::write;
    record.offset = tlmssd::scaled_number(at, k_sector, fields.need(at, k_sector), 512);
    record.bytes = tlmssd::scaled_number(at, k_count, fields.need(at, k_count), 512);
    return true;
  }
};
