# SPDX-License-Identifier: GPL-2.0-only
#
# Imported targets for ns-3 as the `ns3` wheel installs it: ns3::core, ns3::stats, ns3::network, ns3::internet and what that needs.
#
# The wheel's own CMake package and pkg-config files hold absolute paths of the machine it was built on, so the targets are
# made by hand from the installed folder: NS3_WHEEL_ROOT (a variable of CMake or of the environment; the folder that holds
# `ns3/` and its `.dist-info/`), or else where the build's Python finds the wheel. It is looked up in the metadata
# and never imported: importing it starts a just-in-time compiler.

# The pin, from the one place that states it, and the release, which is part of the libraries' names.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../pyproject.toml" ns3_pin REGEX "\"ns3==.+\"")
string(REGEX REPLACE ".*\"ns3==(.+)\".*" "\\1" NS3_WHEEL_VERSION "${ns3_pin}")
string(REGEX MATCH "^[0-9]+\\.[0-9]+" ns3_release "${NS3_WHEEL_VERSION}")

if(NOT NS3_WHEEL_ROOT)
  set(NS3_WHEEL_ROOT "$ENV{NS3_WHEEL_ROOT}")
endif()

execute_process(
  COMMAND
    "${Python_EXECUTABLE}" -c
    "import importlib.metadata as m, sys
d = next(iter(m.distributions(name='ns3', path=sys.argv[1:] or sys.path)), None)
print(f'{d.version};{d.locate_file(str())}' if d else ';')" ${NS3_WHEEL_ROOT}
  OUTPUT_VARIABLE ns3_found
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
list(GET ns3_found 0 ns3_version)
list(GET ns3_found 1 ns3_root)

if(NOT ns3_version STREQUAL NS3_WHEEL_VERSION)
  if(NS3_WHEEL_ROOT)
    set(ns3_where "NS3_WHEEL_ROOT (${NS3_WHEEL_ROOT})")
  else()
    set(ns3_where "the packages of ${Python_EXECUTABLE}")
  endif()
  if(ns3_version)
    set(ns3_state "version ${ns3_version}")
  else()
    set(ns3_state "none")
  endif()
  message(
    FATAL_ERROR
      "astra-py builds against ns3==${NS3_WHEEL_VERSION}; found ${ns3_state} in ${ns3_where}.\n"
      "Install it there with: pip install --no-deps ns3==${NS3_WHEEL_VERSION}")
endif()
message(STATUS "ns-3 ${ns3_version} in ${ns3_root}")

# Adds ns3::<name>, which carries the headers and what <name> itself needs.
function(ns3_wheel_library name)
  set(library "${ns3_root}/ns3/lib64/libns${ns3_release}-${name}.so")
  if(NOT EXISTS "${library}")
    message(FATAL_ERROR "The ns3 wheel in ${ns3_root} is incomplete: ${library} is missing")
  endif()
  add_library(ns3::${name} SHARED IMPORTED)
  set_target_properties(ns3::${name} PROPERTIES IMPORTED_LOCATION "${library}" IMPORTED_NO_SONAME FALSE)
  # Headers of imported targets are system headers: warnings are only about our own code. The definitions are those the
  # wheel was built with; the classes' layouts depend on them.
  target_include_directories(ns3::${name} INTERFACE "${ns3_root}/ns3/include")
  target_compile_definitions(ns3::${name} INTERFACE NS3_BUILD_PROFILE_RELEASE NS3_LOG_ENABLE NS3_ASSERT_ENABLE)
  # The wheel bundles libraries (GSL, SQLite) that are found at run time but not by the linker.
  target_link_options(ns3::${name} INTERFACE LINKER:--allow-shlib-undefined)
  target_link_libraries(ns3::${name} INTERFACE ${ARGN})
endfunction()

ns3_wheel_library(core)
ns3_wheel_library(stats ns3::core)
ns3_wheel_library(network ns3::stats ns3::core)
ns3_wheel_library(bridge ns3::network)
ns3_wheel_library(traffic-control ns3::network)
ns3_wheel_library(internet ns3::bridge ns3::traffic-control ns3::network ns3::core)
