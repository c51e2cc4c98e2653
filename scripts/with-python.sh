#!/bin/sh
# with-python.sh: read by a script NAME.sh whose work is done by NAME.py.
# run_python MODULES DEPENDENCIES ARGUMENT... prints the script's head for --help. Otherwise it runs
# NAME.py with a python3 that has the modules, of which there may be none, or says which of install-deps.sh's sets has them.
run_python() {
    modules=$1 dependencies=$2
    shift 2
    case " $* " in *" --help "*)
        sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p;}' "$0"
        exit 0
        ;;
    esac
    # The first python3 on PATH may lack Debian's modules.
    for python in python3 /usr/bin/python3; do
        # Found, not imported, which would take longer than what most calls do.
        # Words, on purpose.
        # shellcheck disable=SC2086
        if "$python" -c 'import importlib.util as i, sys; sys.exit(not all(map(i.find_spec, sys.argv[1:])))' \
            $modules 2>/dev/null; then
            exec "$python" -B "${0%.sh}.py" "$@"
        fi
    done
    why="no python3 runs here"
    [ -z "$modules" ] || why="python3 needs $modules"
    echo "$(basename "$0"): $why; on Debian and Ubuntu:" \
        "sh scripts/install-deps.sh $dependencies" >&2
    exit 1
}
