# What `kernel` and `modules` have in common, and read: the kernel's source, a folder for its objects, and its make.
# They set endian, llvm, build and more as `kernel` says, before.
linux=$build/linux
fail() { echo "linux: $*" >&2; exit 1; }
# Before a step that writes much: room MiB.
room() {
  free=$(df -Pm "$linux" | awk 'NR == 2 { print $4 }')
  [ "$free" -ge "$1" ] || fail "$linux needs $1 MiB more; its disk has $free MiB left"
}

case $endian in
little) cross=mipsel-linux-gnu- ;;
big) cross=mips-linux-gnu- ;;
*) fail "ENDIAN is little or big, not '$endian'" ;;
esac
version=$(awk '$1 == "linux-source-6.1" { print $2 }' "$here/versions")
# Names, number and date that make the kernel the same wherever it is built.
named="KBUILD_BUILD_USER=spinach KBUILD_BUILD_HOST=host KBUILD_BUILD_VERSION=1 KBUILD_BUILD_TIMESTAMP=2026-01-01"
options() { cat "$here/host.config" ${more:+"$here/$more.config"}; }
key=$({ echo "$version $endian $named"; options; } | sha256sum | cut -c 1-32)
kind=$endian${more:+-$more}
source=$linux/source-$version objects=$linux/kernel-$version-$kind log=$linux/kernel-$kind.log

# kernel_make GOAL...: the kernel's make, with nothing of the environment.
kernel_make() {
  # shellcheck disable=SC2086
  env -i PATH="$PATH" HOME="$objects" LC_ALL=C $named KCONFIG_ALLCONFIG="$objects/host.config" \
    nice make -C "$source" O="$objects" ARCH=mips "LLVM=${llvm:-1}" CROSS_COMPILE="$cross" "$@" 2>&1
}

# Only one of these scripts works on the folders of BUILD/linux at a time, until it ends.
lock_trees() {
  mkdir -p "$linux"
  exec 8>"$linux/lock"
  flock 8
}

# The source, unpacked, and a folder for the objects with the configuration in it.
configure_kernel() {
  if [ ! -d "$source" ]; then
    deb=$("$here/fetch" linux-source-6.1 "$build/downloads")
    room 2000
    echo "linux: unpacking the kernel"
    rm -rf "$source.part"
    mkdir "$source.part"
    dpkg-deb --fsys-tarfile "$deb" | tar -xO ./usr/src/linux-source-6.1.tar.xz | tar -xJ --strip-components 1 -C "$source.part" \
      || fail "$deb cannot be unpacked into $linux"
    mv "$source.part" "$source"
  fi
  room 500
  mkdir -p "$objects"
  objects=$(cd "$objects" && pwd)
  options | sed "s/^CONFIG_CPU_LITTLE_ENDIAN=/CONFIG_CPU_$(echo "$endian" | tr a-z A-Z)_ENDIAN=/" >"$objects/host.config"
  kernel_make allnoconfig >"$log" || kernel_failed
  "$here/check_config" "$objects/host.config" "$objects/.config"
}
kernel_failed() { fail "the kernel does not compile: $(grep -m 1 -E 'error:|Error [0-9]|No space' "$log" || tail -1 "$log"); all of it is in $log"; }
