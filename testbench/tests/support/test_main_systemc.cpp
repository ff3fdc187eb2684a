// Entry of every test program that uses SystemC: sc_main hands over to Catch2, and a SystemC
// warning fails the test.
#include <systemc>

#include <stdexcept>

#ifdef __SANITIZE_ADDRESS__
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

int run_tests(int argc, char* argv[]);

namespace {

void fail_on_warning(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  if (report.get_severity() >= sc_core::SC_WARNING) {
    throw std::runtime_error(std::string("SystemC: ") + report.get_msg_type() + ": " + report.get_msg());
  }
  sc_core::sc_report_handler::default_handler(report, actions);
}

/// SystemC tells the address sanitizer of changes between the stacks of its threads, but not of the
/// one at a thread's end. If that was the last, the search for leaks would look through a stack
/// that is gone.
void back_on_own_stack() {
#ifdef __SANITIZE_ADDRESS__
  pthread_attr_t attributes;
  void* bottom = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &bottom, &size);
  pthread_attr_destroy(&attributes);
  __sanitizer_start_switch_fiber(nullptr, bottom, size);
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  sc_core::sc_report_handler::set_handler(&fail_on_warning);
  const int result = run_tests(argc, argv);
  back_on_own_stack();
  return result;
}
