#!/bin/sh
# wheel.sh FOLDER: builds the wheel of python/ in FOLDER, without a network.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
folder=$(cd "$1" && pwd)

# setuptools writes beside the sources, so it gets a copy of them.
rm -rf "$folder/python"
mkdir "$folder/python"
git ls-files -z python 2>/dev/null | xargs -0r cp --parents -t "$folder"
[ -e "$folder/python/pyproject.toml" ] || cp -r python "$folder/"
cp LICENSE "$folder/python/"

# The first python3 on PATH may lack Debian's modules.
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import setuptools, wheel, pip' 2>/dev/null; then
        exec "$python" -m pip wheel --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation \
            --wheel-dir "$folder" "$folder/python"
    fi
done
echo "wheel.sh: python3 needs pip, setuptools and wheel; on Debian and Ubuntu: sh scripts/install-deps.sh wheel" >&2
exit 1
