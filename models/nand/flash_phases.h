// Ignorable phases that channel, die and flash controller use beside the four of the base protocol
// (IEEE 1666-2011, 16.1: extended phases may come between BEGIN_REQ and END_RESP, and a component
// that does not know them answers TLM_ACCEPTED).
//
//   array_suspend   channel to die, on the payload of a program or erase whose array is busy. The die answers TLM_UPDATED and
//                   annotates the instant at which it takes other commands, or TLM_ACCEPTED: too late, it ends sooner by itself.
//   array_resume    channel to die: go on with the suspended operation.
//   data_phase      channel to controller when data begin to move for a payload: the controller moves them from or to memory
//                   meanwhile, answers TLM_UPDATED and annotates the instant at which memory is done. When memory answers
//                   later, the phase comes back as data_wait, and for a program the controller calls data_phase forward once
//                   the data are there. TLM_ACCEPTED: no memory to wait for.
#pragma once

#include <systemc>
#include <tlm>

namespace tlmssd {

TLM_DECLARE_EXTENDED_PHASE(array_suspend);
TLM_DECLARE_EXTENDED_PHASE(array_resume);
TLM_DECLARE_EXTENDED_PHASE(data_phase);
TLM_DECLARE_EXTENDED_PHASE(data_wait);

}  // namespace tlmssd
