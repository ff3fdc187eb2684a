// Catch2 itself, compiled once for all test programs.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

/// Names that no test case has are an error. CTest cuts a name at a semicolon, and its parts would
/// pass without having run anything.
int run_tests(int argc, char* argv[]) {
  Catch::Session session;
  session.configData().warnings = Catch::WarnAbout::NoTests;
  return session.run(argc, argv);
}
