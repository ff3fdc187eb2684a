# tlmssd_add_plugin(<name> <sources>...): a shared library lib<name>.so that the program tlmssd loads (platform/plugins/plugin.h).
#
# It is built with the headers only: what it uses of tlmssd it finds in the program. What it defines stays its own: symbols that are
# exported would be one with those of the same name in the program and in other plug-ins.
function(tlmssd_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE tlmssd::headers)
  set_target_properties(${name} PROPERTIES PREFIX lib C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# tlmssd_add_conformance_test(<plugin> <family> <policy> [arguments...]): a CTest that holds the plug-in's policy to its family's
# contract (`tlmssd conform`).
function(tlmssd_add_conformance_test plugin family policy)
  add_test(NAME "conform: ${family} ${policy}"
    COMMAND tlmssd::program --plugin $<TARGET_FILE:${plugin}> conform ${family} ${policy} ${ARGN})
endfunction()
