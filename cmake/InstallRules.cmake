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
if(SAGEKIT_PORTABLE)
  install(DIRECTORY "${PROJECT_BINARY_DIR}/licenses/" DESTINATION share/doc/sagekit)
endif()
install(EXPORT sagekitTargets NAMESPACE sagekit:: DESTINATION "${package_folder}")

# The Debian package (`cpack -G DEB`); the wheel and the tarball are made of the installed tree by scripts/packages.
set(CPACK_PACKAGE_NAME sagekit)
set(CPACK_PACKAGE_CONTACT "The sagekit maintainers <maintainers@sagekit.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${SAGEKIT_GLIBC_FLOOR}), libgcc-s1")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates, g++, git, python3-dev")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)  # everything else is linked in
include(CPack)
