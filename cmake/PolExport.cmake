# SPDX-License-Identifier: MIT
#
# What makes libpol usable from elsewhere: the CMake package, both in the build folder and
# installed, pol.pc, and the install rules. Each kind has an export file of its own, so that a
# package that ships one kind alone is whole.
include(CMakePackageConfigHelpers)

configure_file(cmake/PolConfig.cmake PolConfig.cmake COPYONLY)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/PolConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
foreach(kind IN LISTS pol_kinds)
    export(TARGETS pol_${kind} NAMESPACE Pol:: FILE "${PROJECT_BINARY_DIR}/PolTargets-${kind}.cmake")
endforeach()

if(NOT POL_INSTALL)
    return()
endif()
include(GNUInstallDirs)

set(pol_cmakedir "${CMAKE_INSTALL_LIBDIR}/cmake/Pol")
foreach(kind IN LISTS pol_kinds)
    install(TARGETS pol_${kind} EXPORT pol_${kind}
        RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT Runtime
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Runtime
                NAMELINK_COMPONENT Development
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Development
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
    install(EXPORT pol_${kind} NAMESPACE Pol:: FILE PolTargets-${kind}.cmake
        DESTINATION "${pol_cmakedir}" COMPONENT Development)
endforeach()
install(FILES "${PROJECT_BINARY_DIR}/PolConfig.cmake" "${PROJECT_BINARY_DIR}/PolConfigVersion.cmake"
    DESTINATION "${pol_cmakedir}" COMPONENT Development)

list(TRANSFORM pol_headers PREPEND "${PROJECT_SOURCE_DIR}/include/" OUTPUT_VARIABLE pol_header_files)
list(TRANSFORM pol_header_files REPLACE "^.*/pol/version.h$"
     "${PROJECT_BINARY_DIR}/include/pol/version.h")
install(FILES ${pol_header_files}
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/pol" COMPONENT Development)

# Packagers pass absolute folders too; only relative ones are below the prefix.
foreach(dir IN ITEMS includedir libdir)
    string(TOUPPER ${dir} DIR)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${DIR}}")
        set(pol_pc_${dir} "${CMAKE_INSTALL_${DIR}}")
    else()
        set(pol_pc_${dir} "\${prefix}/${CMAKE_INSTALL_${DIR}}")
    endif()
endforeach()
set(pol_pc_prefix "${CMAKE_INSTALL_PREFIX}")
if(POL_PKGCONFIG_RELOCATABLE)
    file(RELATIVE_PATH pol_pc_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
    string(PREPEND pol_pc_prefix "\${pcfiledir}/")
endif()
configure_file(cmake/pol.pc.in pol.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/pol.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT Development)
