#!/bin/sh
# install-deps.sh [build] [run] [plots] [report] [compare] [tested] [test] [notebook] [check] [mpi]
# [deb] [pictures]: installs the packages that these jobs need and that are missing, on Debian and
# Ubuntu. On other systems it names them and exits with 1. Without arguments: all jobs except
# notebook, mpi, deb and pictures.
#
# Plain sh that uses only what a minimal installation has, since it installs the rest.
# Installed packages are not touched; if nothing is missing, nothing is downloaded.
set -eu

packages='' # missing, each once
wanted=''  # optional: missing, and skipped if not available

say() {
    echo "install-deps: $*"
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# need PACKAGE WHY TEST...: records the package as missing unless TEST succeeds.
need() {
    package=$1 why=$2
    shift 2
    if "$@" >/dev/null 2>&1; then
        return
    fi
    case " $packages " in *" $package "*) return ;; esac
    say "missing: $package, $why"
    packages="$packages $package"
}

# want PACKAGE WHY TEST...: the same for a package without which some tests are skipped.
want() {
    package=$1 why=$2
    shift 2
    if ! "$@" >/dev/null 2>&1; then
        say "missing: $package, $why"
        wanted="$wanted $package"
    fi
}

# Can the C compiler find a header? Without a compiler: is the file in its usual place?
has_header() {
    if have cc; then
        # cmocka.h requires these headers before it; they do no harm to others.
        printf '#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <%s>\n' "$1" |
            cc -E -x c - >/dev/null 2>&1
    else
        [ -e "/usr/include/$1" ]
    fi
}

# Can the C++ compiler find a header?
has_cplusplus_header() {
    if have c++; then
        printf '#include <%s>\n' "$1" | c++ -std=c++20 -E -x c++ - >/dev/null 2>&1
    else
        [ -e "/usr/include/$1" ]
    fi
}

# Does clang have the header of its own OpenMP?
has_omp_header() {
    echo '#include <omp.h>' | clang -E -x c - >/dev/null 2>&1
}

# for_build, for_run, ...: the packages each job needs, and why.
for_build() {
    need gcc "compiles the C side" have cc
    need g++ "compiles the emulator" have c++
    need libc6-dev "the C library's headers" has_header stdio.h
    need make "runs the build" have make
    need libjansson-dev "writes JSON" has_header jansson.h
}

for_run() {
    for_build
}

# The first python3 on PATH may not be Debian's.
has_matplotlib() {
    python3 -c 'import matplotlib' || /usr/bin/python3 -c 'import matplotlib'
}

for_plots() {
    need python3-matplotlib "draws the pictures" has_matplotlib
}

for_report() {
    need python3 "builds the page" have python3
}

has_scipy() {
    python3 -c 'import scipy' || /usr/bin/python3 -c 'import scipy'
}

has_pil() {
    /usr/bin/python3 -c 'import PIL' || python3 -c 'import PIL'
}

has_selenium() {
    python3 -c 'import selenium' || /usr/bin/python3 -c 'import selenium'
}

for_compare() {
    need python3-scipy "compares runs" has_scipy
}

# What the programs that the tests run are built with.
for_tested() {
    for_build
    need libtbb-dev "a library to compare with on the CPU" has_cplusplus_header tbb/version.h
    need libhwy-dev "a library to compare with on the CPU" has_cplusplus_header hwy/highway.h
    need libcmocka-dev "unit tests" has_header cmocka.h
}

for_test() {
    for_tested
    for_plots
    for_compare
    need bats "command-line tests" have bats
    want chromium "opens the report page, in a test" have chromium
    want chromium-driver "lets a test use that page" have chromedriver
    want python3-selenium "lets a test use that page" has_selenium
    want tmux "is the terminal in a test" have tmux
    want dpkg-dev "makes a package, in a test" have dpkg-shlibdeps
    want lintian "checks that package" have lintian
    want groff-base "reads the manual page, in a test" have groff
    want python3-pip "builds a wheel, in a test" has_wheel
    want python3-setuptools "builds a wheel, in a test" has_wheel
    want python3-wheel "builds a wheel, in a test" has_wheel
    need python3 "reads CSV and JSON back, in the tests" have python3
}

has_pandas() {
    python3 -c 'import pandas' || /usr/bin/python3 -c 'import pandas'
}

for_notebook() {
    need libreoffice-calc-nogui "opens the CSV, in a test" have soffice
    need python3-pandas "opens the CSV, in a test" has_pandas
    need r-base-core "opens the CSV, in a test" have Rscript
}

for_check() {
    for_build
    need libcmocka-dev "its header, to analyse the unit tests" has_header cmocka.h
    need clang-format "checks the format of the sources" have clang-format
    need clang-tidy "static analysis of the C side" have clang-tidy
    need libomp-dev "its header, to analyse what uses OpenMP" has_omp_header
    need cppcheck "static analysis of the C side" have cppcheck
    need shellcheck "checks the scripts" have shellcheck
}

for_mpi() {
    need libopenmpi-dev "lets several processes share an array" have mpicc
    need openmpi-bin "starts several processes" have mpirun
}

for_deb() {
    need dpkg-dev "names the libraries that a package needs" have dpkg-shlibdeps
    need binutils "strips the program of a package" have strip
    want lintian "checks a package" have lintian
}

has_wheel() {
    python3 -c 'import setuptools, wheel, pip' || /usr/bin/python3 -c 'import setuptools, wheel, pip'
}

for_wheel() {
    need python3-pip "builds the wheel" has_wheel
    need python3-setuptools "builds the wheel" has_wheel
    need python3-wheel "builds the wheel" has_wheel
}

for_pictures() {
    for_plots
    need chromium "shows the page" have chromium
    need chromium-driver "takes pictures of the page" have chromedriver
    need python3-selenium "takes pictures of the page" has_selenium
    need python3-pil "makes pictures small" has_pil
    need tmux "is the terminal in a picture" have tmux
}

# The tests use `run --separate-stderr`.
check_bats_version() {
    have bats || return 0
    version=$(bats --version 2>/dev/null | sed 's/[^0-9.]//g')
    case $version in
    0.* | 1.[0-4] | 1.[0-4].*)
        say "bats is $version here, and the tests need 1.5 or newer (Debian 12, Ubuntu 24.04)" >&2
        return 1
        ;;
    esac
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

install_packages() {
    if ! have apt-get; then
        say "this is neither Debian nor Ubuntu; please install the equivalents of:$packages$wanted" >&2
        return 1
    fi
    if [ "$(id -u)" -ne 0 ] && ! have sudo; then
        say "neither root nor sudo; please run: apt-get install$packages$wanted" >&2
        return 1
    fi
    say "installing:$packages$wanted (this may take a minute)"
    as_root apt-get update -qq
    # Each word of the list is a package.
    # shellcheck disable=SC2086
    [ -z "$packages" ] || apt_install $packages
    # One run of apt-get takes less time, but installs nothing if one package does not exist.
    # shellcheck disable=SC2086
    [ -z "$wanted" ] || apt_install $wanted 2>/dev/null || for package in $wanted; do
        apt_install "$package" || say "$package is not available: tests that need it are skipped"
    done
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

everything=no
if [ $# -eq 0 ]; then
    everything=yes
    set -- build run plots report compare test check
fi
for job; do
    case $job in
    build | run | plots | report | compare | tested | test | notebook | check | mpi | deb | wheel | pictures) "for_$job" ;;
    *)
        say "unknown job: $job; it must be build, run, plots, report, compare, tested, test, notebook, check, mpi, deb, wheel or pictures" >&2
        exit 2
        ;;
    esac
done
if [ -n "$packages" ]; then
    install_packages
elif [ -n "$wanted" ]; then
    install_packages || say "tests that need them are skipped"
fi
case " $* " in *" test "*) check_bats_version ;; esac
# The build says so too; this is for users who run only this script.
if [ $everything = yes ] && ! have nvcc &&
    ! [ -x /usr/local/cuda/bin/nvcc ] && ! [ -x /opt/cuda/bin/nvcc ]; then
    say "no nvcc: fine, GPU algorithms then run in the emulator. For a GPU: the CUDA Toolkit," \
        "12 or newer, from NVIDIA"
fi
