#!/bin/sh
# with-python.sh: read by a script NAME.sh whose work is done by NAME.py.
# run_python MODULE DEPENDENCIES ARGUMENT... prints the script's head for --help. Otherwise it runs
# NAME.py with a python3 that has the module, or says which of install-deps.sh's sets has it.
run_python() {
    module=$1 dependencies=$2
    shift 2
    case " $* " in *" --help "*)
        sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p;}' "$0"
        exit 0
        ;;
    esac
    # The first python3 on PATH may lack Debian's modules.
    for python in python3 /usr/bin/python3; do
        if "$python" -c "import importlib.util, sys; sys.exit(not importlib.util.find_spec('$module'))" 2>/dev/null; then
            exec "$python" -B "${0%.sh}.py" "$@"
        fi
    done
    echo "$(basename "$0"): $module is missing; on Debian and Ubuntu: sh scripts/install-deps.sh $dependencies" >&2
    exit 1
}
