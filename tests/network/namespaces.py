"""Several hosts on this computer, for mpirun: `unshare -rnm python3 namespaces.py FOLDER NAME,NAME,... COMMAND...`.

Each host is a network namespace with an address, a host name, and its own /dev/shm; a bridge joins them.  Files are those of
this computer, so they are shared.  The command runs beside them all, where mpirun reaches a host by a program in the
folder, as it would by ssh.
"""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

HOLD = "mount -t tmpfs tmpfs /dev/shm && hostname {name} && ip link set lo up && echo ready && exec sleep 100000"
KINDS = ["--net", "--mount", "--uts", "--ipc"]
# Of the words before the name of the host, which are options of ssh, none is used.
REACH = """#!/bin/sh
while case $1 in -*) true ;; *) false ;; esac; do shift; done
host=$1
shift
process=$(cat {folder}/"$host.process" 2>/dev/null) || {{ echo "reach: there is no host $host" >&2; exit 255; }}
exec nsenter --target "$process" {kinds} --wd="$PWD" -- sh -c "$*"
"""


def run(*words: str) -> None:
    subprocess.run(words, check=True)


def start_host(folder: Path, number: int, name: str) -> subprocess.Popen:
    holder = subprocess.Popen(["unshare", *KINDS, "sh", "-c", HOLD.format(name=shlex.quote(name))], stdout=subprocess.PIPE, text=True)
    assert holder.stdout and holder.stdout.readline() == "ready\n"
    (folder / f"{name}.process").write_text(str(holder.pid))
    run("ip", "link", "add", f"host{number}", "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
    run("ip", "link", "set", f"host{number}", "master", "bridge", "up")
    run("nsenter", "--target", str(holder.pid), "--net", "ip", "addr", "add", f"10.77.0.{2 + number}/24", "dev", "eth0")
    run("nsenter", "--target", str(holder.pid), "--net", "ip", "link", "set", "eth0", "up")
    return holder


def main() -> int:
    folder, names, *command = sys.argv[1:]
    reach = Path(folder) / "reach"
    reach.write_text(REACH.format(folder=shlex.quote(folder), kinds=" ".join(KINDS)))
    reach.chmod(0o755)
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "bridge", "type", "bridge")
    run("ip", "addr", "add", "10.77.0.1/24", "dev", "bridge")
    run("ip", "link", "set", "bridge", "up")
    hosts = [start_host(Path(folder), number, name) for number, name in enumerate(names.split(","))]
    # Open MPI and MPICH are told of the program in their own ways.
    hydra = {"HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": str(reach), "HYDRA_IFACE": "bridge"}
    environment = os.environ | hydra | {"OMPI_MCA_plm_rsh_agent": str(reach)}
    child = subprocess.Popen(command, env=environment)
    signal.signal(signal.SIGINT, lambda number, frame: child.send_signal(number))
    try:
        return child.wait()
    finally:
        for host in hosts:
            host.kill()


if __name__ == "__main__":
    sys.exit(main())
