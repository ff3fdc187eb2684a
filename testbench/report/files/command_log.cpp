#include "testbench/report/files/command_log.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace tlmssd {

CommandLog::CommandLog(const std::string& path) : file_(path) {
  line_ = "load,queue,operation,lba,bytes,status,submitted_ps,completed_ps,latency_ps";
  for (std::size_t i = 0; i < k_causes; ++i) {
    std::string column(name_of(static_cast<Cause>(i)));  // "die busy: gc" becomes die_busy_gc_ps
    std::erase(column, ':');
    std::replace(column.begin(), column.end(), ' ', '_');
    line_ += "," + column + "_ps";
  }
  file_.write(line_ + "\n");
}

void CommandLog::record(const Completed& command) {
  line_.clear();
  fmt::format_to(std::back_inserter(line_), "{},{},{},{},{},{},{},{},{}", command.load, command.queue,
                 name_of(command.opcode), command.lba, command.bytes, name_of(command.status),
                 command.submitted, command.completed, command.completed - command.submitted);
  for (std::size_t i = 0; i < k_causes; ++i) {
    fmt::format_to(std::back_inserter(line_), ",{}", command.ledger->spent(static_cast<Cause>(i)));
  }
  line_ += '\n';
  file_.write(line_);
}

}  // namespace tlmssd
