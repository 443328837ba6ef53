# What find_package(cardarena) reads: the libraries of the system, and the targets cardarena::cardarena and cardarena::GAME.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(PkgConfig)
if(NOT TARGET PkgConfig::cardarena_grpc)
  pkg_check_modules(cardarena_grpc REQUIRED IMPORTED_TARGET grpc++ protobuf openssl)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/cardarenaTargets.cmake)
