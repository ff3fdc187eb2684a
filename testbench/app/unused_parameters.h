// Which parameters that a scenario sets play no part in its run: those that nothing has read, and
// those that other parameters leave without a part, by tables (unused_parameters.cpp).
//
// What it leaves out: parameters without effect by what happens in the run (a threshold that is
// never met), hardware's times in an untimed run, options of fio job files, and what a data sheet
// says in a file of its own.
#pragma once

#include <vector>

#include "platform/scenario/scenario.h"

namespace tlmssd {

/// To be asked when the run has read what it reads; in the order of the catalogue.
std::vector<Unread> unused_parameters(const Scenario& scenario);

}  // namespace tlmssd
