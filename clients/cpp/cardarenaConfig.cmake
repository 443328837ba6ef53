# What find_package(cardarena) reads: the targets cardarena::cardarena and cardarena::GAME, with the libraries that they need.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/cardarenaTargets.cmake)
