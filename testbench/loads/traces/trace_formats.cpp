// The trace formats by name: the one list of them.
#include "models/base/input_error.h"
#include "testbench/loads/traces/trace_format.h"

namespace tlmssd {

TraceFormats& trace_formats() {
  using Blkparse = BlkparseConfig;
  using Columns = ColumnsConfig;
  static TraceFormats formats = {
      {"fio-iolog", "fio I/O log, version 2 or 3", "operations are words", '\0', true,
       [](const Blkparse&, const Columns*) { return make_fio_iolog_format(); }},
      {"blkparse", "blkparse text, or binary blktrace; one action, 512 B sectors, seconds",
       "operations are letters (rwbs)", '\0', true,
       [](const Blkparse& blkparse, const Columns*) { return make_blkparse_format(blkparse); }},
      {"perf-script", "perf script or ftrace text of block events; 512 B sectors, seconds",
       "operations are letters (rwbs)", '\0', true,
       [](const Blkparse&, const Columns*) { return make_perf_script_format(); }},
      {"biosnoop", "biosnoop: time (s), command, process, disk, op, sector (512 B), size (B), latency (ms)",
       "operations are letters", '\0', true,
       [](const Blkparse&, const Columns*) { return make_biosnoop_format(); }},
      {"msr", "MSR Cambridge CSV: time (100 ns), host, disk, type, offset (B), size (B), response",
       "operations are words", ',', true, [](const Blkparse&, const Columns*) { return make_msr_format(); }},
      {"spc", "SPC, as in the UMass repository: ASU, LBA (512 B), size (B), op, time (s)",
       "operations are letters", ',', true,
       [](const Blkparse&, const Columns*) { return make_spc_format(); }},
      {"alibaba", "Alibaba cloud: device, opcode, offset (B), length (B), time (us)",
       "operations are letters", ',', true,
       [](const Blkparse&, const Columns*) { return make_alibaba_format(); }},
      {"tencent", "Tencent cloud: time (s), offset (512 B), size (512 B), op, volume",
       "0 is a read, 1 is a write", ',', true,
       [](const Blkparse&, const Columns*) { return make_tencent_format(); }},
      {"mqsim", "MQSim / SSDsim ASCII: time (ns), device, LBA (512 B), sectors (512 B), op",
       "1 is a read, 0 is a write", ' ', true,
       [](const Blkparse&, const Columns*) { return make_mqsim_format(); }},
      {"csv", "any table; `columns` says what its columns mean", "as given under `columns`", ',', false,
       [](const Blkparse&, const Columns* columns) {
         if (columns == nullptr)
           throw InputError("trace format csv needs the section columns (op, offset, size, ...)");
         return make_csv_format(*columns);
       }},
  };
  return formats;
}

}  // namespace tlmssd
