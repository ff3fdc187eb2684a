// Entry of every test program that uses SystemC: sc_main hands over to Catch2, and a SystemC
// warning fails the test.
#include <systemc>

#include <stdexcept>

int run_tests(int argc, char* argv[]);

namespace {

void fail_on_warning(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  if (report.get_severity() >= sc_core::SC_WARNING) {
    throw std::runtime_error(std::string("SystemC: ") + report.get_msg_type() + ": " + report.get_msg());
  }
  sc_core::sc_report_handler::default_handler(report, actions);
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  sc_core::sc_report_handler::set_handler(&fail_on_warning);
  return run_tests(argc, argv);
}
