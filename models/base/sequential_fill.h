// What the blocks of a die hold that a sequential fill has written from end to end: nothing but a
// rule, as long as they are not erased.
#pragma once

#include "models/base/types.h"

namespace tlmssd {

/// Logical units go up page by page, and jump from one program of a block to the next, and from a
/// block to the one of the next number, because the others went elsewhere meanwhile.
struct SequentialFill {
  Lpn first{};                     ///< in the first page of the first plane of block 0
  std::uint32_t block_step = 0;    ///< from a block to the next
  std::uint32_t program_step = 0;  ///< from a program of a block to the next
  std::uint32_t page_step = 0;     ///< from a page of a program to the next; a plane has a page's units
  std::uint16_t sequence = 0;      ///< which write of the unit it was, for its stamps (content.h)
};

}  // namespace tlmssd
