#!/bin/sh
# make.sh KIND DIR VERSION [MORE]: puts a stand-in into DIR. Tests of the environment room and of the command line use it.
#   nvcc   DIR 13.0.88 [CODES]      a CUDA tree; CODES such as "sm_80 sm_90"
#   cxx    DIR 12.2.0 [NAME] [TARGET] [gcc|clang]   a compiler DIR/bin/NAME
#   python DIR 3.12.1 [no-headers]  an interpreter's prefix with headers and site-packages
#   headers DIR 3.12.1 CPU [debian] Python's headers in DIR/include, without an interpreter
#   torch  DIR 2.11.0+cu130 [CUDA] [x86_64|aarch64]   DIR/torch, as an unpacked wheel
set -e
kind=$1 dir=$2 version=$3
here=$(cd "$(dirname "$0")" && pwd)

put() { # put FROM AS VERSION
  mkdir -p "$(dirname "$2")"
  cp "$here/prelude.sh" "$(dirname "$2")/"
  cp "$here/$1" "$2"
  chmod 755 "$2"
  printf '%s' "$3" >"$2.version"
}

case $kind in
  nvcc)
    put nvcc "$dir/bin/nvcc" "$version"
    printf '%s\n' ${4:-sm_75 sm_80 sm_86 sm_87 sm_89 sm_90 sm_100 sm_120 sm_121} >"$dir/bin/nvcc.codes"
    for tool in ptxas cudafe++ fatbinary; do put tool "$dir/bin/$tool" "$version"; done
    put tool "$dir/nvvm/bin/cicc" "$version"
    mkdir -p "$dir/include/crt" "$dir/include/cccl" "$dir/lib" "$dir/nvvm/libdevice"
    echo 'TOP = $(_HERE_)/..' >"$dir/bin/nvcc.profile"
    : >"$dir/include/cuda_runtime.h"
    printf '#if __GNUC__ > 15\n#error\n#endif\n#if (__clang_major__ >= 21) || (__clang_major__ < 3)\n#error\n#endif\n' \
      >"$dir/include/crt/host_config.h"
    : >"$dir/lib/libcudart.so.${version%%.*}" ;;
  cxx)
    name=${4:-g++} word=${6:-gcc}
    put g++ "$dir/bin/$name" "$word version $version (a stand-in for tests)"
    printf '%s' "${5:-x86_64-linux-gnu}" >"$dir/bin/$name.target" ;;
  python)
    minor=${version%.*} digits=$(echo "${version%.*}" | tr -d .)
    put python3 "$dir/bin/python3" "$version"
    include="$dir/include/python$minor" sites="$dir/lib/python$minor/site-packages"
    mkdir -p "$sites"
    if [ "$4" != no-headers ]; then
      mkdir -p "$include"
      : >"$include/Python.h"
      echo "#define PY_VERSION \"$version\"" >"$include/patchlevel.h"
      : >"$include/pyconfig.h"
    fi
    cat >"$dir/bin/python3.json" <<END
{"implementation": "cpython", "version": "$version", "minor": "$minor", "threads": "",
 "executable": "$dir/bin/python3", "prefix": "$dir", "soabi": "cpython-$digits-x86_64-linux-gnu",
 "multiarch": "x86_64-linux-gnu", "include": ["$include"], "sites": ["$sites"]}
END
    ;;
  headers)
    minor=${version%.*} include="$dir/include/python${version%.*}" own="$dir/include/python${version%.*}"
    mkdir -p "$include"
    : >"$include/Python.h"
    echo "#define PY_VERSION \"$version\"" >"$include/patchlevel.h"
    if [ "$5" = debian ]; then
      own="$dir/include/$4-linux-gnu/python$minor"
      mkdir -p "$own"
      for cpu in x86_64 aarch64; do
        printf '#ifdef __%s__\n#include <%s-linux-gnu/python%s/pyconfig.h>\n#endif\n' $cpu $cpu "$minor"
      done >"$include/pyconfig.h"
    fi
    { echo "#define SIZEOF_VOID_P 8"
      if [ "$4" = x86_64 ]; then
        printf '#define HAVE_GCC_ASM_FOR_X64 1\n/* #undef HAVE_USABLE_WCHAR_T */\n'
      else
        printf '/* #undef HAVE_GCC_ASM_FOR_X64 */\n#define HAVE_USABLE_WCHAR_T 1\n'
      fi
    } >"$own/pyconfig.h" ;;
  torch)
    cuda=${4-13.0}
    mkdir -p "$dir/torch/include/torch" "$dir/torch/lib" "$dir/torch/share/cmake/Torch"
    : >"$dir/torch/include/torch/extension.h"
    { echo "from typing import Optional"; echo "__version__ = '$version'"; echo "debug = False"
      if [ -n "$cuda" ]; then echo "cuda: Optional[str] = '$cuda'"; else echo "cuda: Optional[str] = None"; fi
    } >"$dir/torch/version.py"
    echo 'set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=1")' >"$dir/torch/share/cmake/Torch/TorchConfig.cmake"
    # The first 20 bytes of an ELF header: e_type 3, e_machine 62 (x86_64) or 183 (aarch64).
    machine='\076'
    [ "$5" != aarch64 ] || machine='\267'
    printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\003\000'"$machine"'\000' >"$dir/torch/lib/libc10.so" ;;
  *) echo "make.sh: unknown kind $kind" >&2; exit 2 ;;
esac
