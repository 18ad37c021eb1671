# SPDX-License-Identifier: MIT
#
# Each way to ask for a kind gives that kind.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
set(prefix "-DCMAKE_PREFIX_PATH=${INSTALLS}/install_both/prefix")

consume(consumer default ${prefix} -DKIND=shared)
consume(consumer shared ${prefix} -DKIND=shared -DCOMPONENTS=shared)
consume(consumer static ${prefix} -DKIND=static -DCOMPONENTS=static)
consume(consumer default_static ${prefix} -DKIND=static -DBUILD_SHARED_LIBS=OFF)
