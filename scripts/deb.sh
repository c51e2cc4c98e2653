#!/bin/sh
# deb.sh VERSION PROGRAM BUILD: makes BUILD/scanbench_VERSION_ARCH.deb from what `make
# install` installs, and checks it with lintian. As for Debian's own tools, DEBFULLNAME and
# DEBEMAIL name the maintainer of the package.
set -eu
maintainer="${DEBFULLNAME:-the scanbench authors} <${DEBEMAIL:-scanbench@example.org}>"
version=$1-1 program=$2 build=$3
architecture=$(dpkg --print-architecture)
root=$build/deb/root
doc=$root/usr/share/doc/scanbench
package=$build/scanbench_${version}_$architecture.deb

rm -rf "$build/deb"
mkdir -p "$root/DEBIAN" "$doc" "$build/deb/debian"
# `make deb` does not know that this calls make, so it hands on its settings but not its jobserver.
MAKEFLAGS=$(echo "${MAKEFLAGS-}" | sed 's/-j[0-9]* *--jobserver-[a-z]*=[^ ]*//')
make --no-print-directory -o all -o "$program" -o install-library install DESTDIR="$root" PREFIX=/usr >/dev/null
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$root/usr/bin/scanbench"
find "$root/usr/share/man" -type f -exec gzip -9n {} +
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_scanbench" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"

cat >"$doc/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: scanbench

Files: *
Copyright: 2026 the scanbench authors
License: Expat
$(sed -n '/^Permission/,$s/^$/./; /^Permission/,$s/^/ /p' LICENSE)
END
{
    printf 'scanbench (%s) unstable; urgency=medium\n\n' "$version"
    printf '  * Version %s. The file changelog.gz says what changed.\n\n' "$1"
    printf ' -- %s  %s\n' "$maintainer" \
        "$(date -u -R -d "${SOURCE_DATE_EPOCH:+@}${SOURCE_DATE_EPOCH:-now}")"
} | gzip -9n >"$doc/changelog.Debian.gz"
gzip -9n <CHANGELOG.md >"$doc/changelog.gz"

# dpkg-shlibdeps names the packages of the shared libraries. It reads debian/control.
printf 'Source: scanbench\n\nPackage: scanbench\nArchitecture: any\n' >"$build/deb/debian/control"
depends=$(cd "$build/deb" && dpkg-shlibdeps -O "root/usr/bin/scanbench" 2>/dev/null | sed 's/^shlibs:Depends=//')
cat >"$root/DEBIAN/control" <<END
Package: scanbench
Version: $version
Section: utils
Priority: optional
Architecture: $architecture
Depends: $depends
Maintainer: $maintainer
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)
Description: benchmark of prefix-sum scan and related algorithms
 scanbench measures prefix-sum scan, stream compaction, reduction and radix
 sort: the classic algorithms on CPU and GPU, beside Thrust, CUB and memcpy.
 Every element of every result is checked. Without a GPU, GPU algorithms run
 in an emulator.
END
(cd "$root" && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)
find "$root" -type d -exec chmod 755 {} +
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
! command -v lintian >/dev/null || lintian --allow-root --fail-on=error "$package"
echo "$package"
