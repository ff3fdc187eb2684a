// Binary blktrace, as blkparse would print it: DEVICE.blktrace.0, .1, ... one file per processor,
// put in order by time. Files may be compressed (DEVICE.blktrace.0.gz).
//
// Records are `struct blk_io_trace` of the machine that recorded them (either byte order), each
// followed by pdu_len bytes that say nothing about requests. Notices (process names, time stamps)
// and pass-through commands are left out. Source: Linux, blktrace_api.h;
// letters as in blktrace's blkparse_fmt.c.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "testbench/loads/text/line_reader.h"

namespace tlmssd {

/// Whether a file that begins with these bytes is binary blktrace.
bool is_blktrace(std::string_view first);

/// All files of one recording, of which `path` is one, as lines of blkparse; without `beside` that
/// one alone. `open` gives the bytes of each. Reading throws InputError for a file that is damaged
/// or cut off.
std::unique_ptr<ByteSource> make_blktrace_source(
    const std::string& path, bool beside,
    const std::function<std::unique_ptr<ByteSource>(const std::string&)>& open);

}  // namespace tlmssd
