# What `cmake --install` gives: bin/sagekit, lib/libsagekit.so*, lib/sagekit/plugins (sagekit_add_plugin puts them there),
# include/sagekit, and the CMake package in lib/cmake/sagekit.
include(CMakePackageConfigHelpers)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/sagekit")

install(TARGETS sagekit_core sagekit_plugin_api EXPORT sagekitTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(TARGET sagekit_host)
  set_target_properties(sagekit_host PROPERTIES EXPORT_NAME sagekit)
  install(TARGETS sagekit_host EXPORT sagekitTargets RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

install(DIRECTORY "${PROJECT_SOURCE_DIR}/core/include/sagekit" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES "${PROJECT_BINARY_DIR}/core/include/sagekit/version.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sagekit")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/sagekitConfig.cmake.in" "${PROJECT_BINARY_DIR}/sagekitConfig.cmake"
                              INSTALL_DESTINATION "${package_folder}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sagekitConfigVersion.cmake" COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/sagekitConfig.cmake" "${PROJECT_BINARY_DIR}/sagekitConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/SagekitAddPlugin.cmake" "${PROJECT_SOURCE_DIR}/cmake/plugin_descriptor.c.in"
        DESTINATION "${package_folder}")
install(EXPORT sagekitTargets NAMESPACE sagekit:: DESTINATION "${package_folder}")
